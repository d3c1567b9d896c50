"""The text of pipelines, parsed and printed: `a,b{x=1}`, `func.func(a,b)`,
`sequential{name="x"}(a,b)`, `fixpoint(a)`, `repeat{n=2}(a)`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .anchors import ANY, nest
from .errors import PipelineSyntaxError
from .names import did_you_mean, name_key
from .options import MLIR_OPTIONS, OptionText, check_range, find_option, from_text, pass_options
from .registry import installed
from .runner import info_of
from .sequential import (
    Fixpoint,
    FixpointOptions,
    Repeat,
    RepeatOptions,
    Sequential,
    SequentialOptions,
)

__all__ = ["parse_pipeline", "pipeline_text"]

PassFactory = Callable[[], type[ModulePass]]


def pipeline_text(pipeline: ModulePass) -> str:
    """Return the text that `parse_pipeline` reads back as the same pipeline."""
    if isinstance(pipeline, Sequential) and pipeline.options == SequentialOptions():
        return ",".join(info_of(child).text for child in pipeline.passes)
    return info_of(pipeline).text


def parse_pipeline(
    text: str,
    passes: Mapping[str, PassFactory] | None = None,
    warn: Callable[[str], None] | None = None,
) -> Sequential:
    """Return the pipeline in `text`, of the passes in `passes`, by default all registered ones.

    Names may be in TVM's spelling; blanks and newlines are allowed. `builtin.module(...)` or
    `any(...)` around all passes groups them; another anchor, such as `func.func(...)`, or
    `builtin.module(...)` within an anchor, runs each pass on the ops of this name alone, and one
    that is no module holds no pass that needs the module. Options
    are separated by blanks or commas. A comma starts a new option only if `name=` follows;
    otherwise it continues a list, which may be in braces. Options that only MLIR's pass of a name
    has are ignored; `warn` gets a message, which is logged by default.

    Errors: PipelineSyntaxError, with the text and a caret.
    """
    available = installed().passes if passes is None else passes
    return _Parser(text, available, warn or _log_warning).parse()


def _log_warning(message: str) -> None:
    import logging

    logging.getLogger(__name__).warning(message)


_REPEATING: Mapping[str, tuple[Callable[..., ModulePass], type]] = {
    Fixpoint.name: (Fixpoint, FixpointOptions),
    Repeat.name: (Repeat, RepeatOptions),
}
"""The passes that run one pass, or else a Sequential, several times, and their options."""


class _ParsedOption(NamedTuple):
    """An option as written in the text, with its start and end."""

    name: str
    values: list[OptionText]
    start: int
    end: int


# Letters of all languages: a name may be unknown, but is not cut off in the message.
_NAME = re.compile(r"\w[\w.\-]*")
_VALUE = re.compile(r'"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<bare>[^\s,{}"]+)', re.DOTALL)
_NEXT_OPTION = re.compile(r",\s*[A-Za-z_][A-Za-z0-9_\-]*\s*=")
_BLANKS = re.compile(r"\s*")
_NO_VALUE = re.compile(r"\s+(?=[A-Za-z_][A-Za-z0-9_\-]*\s*=)")
"""The blank after `name=` without a value, as MLIR writes an empty string before another option."""
_SKIPPED = re.compile(r'[({]|"(?:\\.|[^"\\])*"|,(?!\s*[A-Za-z_][\w\-]*\s*=)|[^\s,(){}"]+')
"""A piece of the value of an option that is ignored."""
_CLOSING = {"(": ")", "{": "}"}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


_MAX_DEPTH = 100
"""The limit on nested parentheses, so that recursion ends with an error in the text."""


class _Parser:
    """A recursive-descent parser of pipelines; `at` is the offset of the next character."""

    def __init__(
        self, text: str, available: Mapping[str, PassFactory], warn: Callable[[str], None]
    ) -> None:
        self.text, self.at = text, 0
        self.warn = warn
        self.warned: set[str] = set()
        self.available = available
        self.depth = 0
        self.names = {name_key(name): name for name in available}
        self.anchors: tuple[str, ...] = ()
        """The anchors around the current place, outermost first."""

    # Characters

    def fail(self, message: str, start: int | None = None, end: int | None = None):
        """Return the error for the text from `start` to `end`, by default the next character."""
        start = min(self.at if start is None else start, len(self.text.rstrip()))
        return PipelineSyntaxError(message, self.text, start, end)

    def warn_once(self, message: str) -> None:
        """Warn about the text, unless the same was said before."""
        if message not in self.warned:
            self.warned.add(message)
            self.warn(message)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consume the text that matches the pattern here, if any."""
        if (match := pattern.match(self.text, self.at)) is not None:
            self.at = match.end()
        return match

    def peek(self) -> str:
        """Skip blanks and return the next character, empty at the end."""
        self.match(_BLANKS)
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        """Consume the next character if it is `character`, and return whether it was."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def expect(self, character: str, where: str) -> None:
        """Consume the next character, which has to be `character`; `where` is used in the error."""
        if not self.take(character):
            got = f"'{self.peek()}'" if self.peek() else "the end"
            raise self.fail(f"expected '{character}' {where}, got {got}")

    # Pipelines

    def parse(self) -> Sequential:
        """Return the pipeline that the whole text describes."""
        passes = self.elements()
        if self.peek() == ")":
            raise self.fail("unmatched ')'")
        if self.peek():
            raise self.fail("expected ',' or the end after a pass")
        return Sequential(passes)

    def elements(self) -> list[ModulePass]:
        """Return the passes up to the end or a closing parenthesis."""
        passes: list[ModulePass] = []
        if self.peek() in ("", ")"):
            return passes
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.fail(f"passes in more than {_MAX_DEPTH} nested parentheses")
        passes += self.element()
        while self.take(","):
            passes += self.element()
        self.depth -= 1
        return passes

    def element(self) -> Sequence[ModulePass]:
        """Return the passes of one element: one pass, or those in an anchor."""
        self.peek()
        start = self.at
        if (match := self.match(_NAME)) is None:
            raise self.fail("expected the name of a pass")
        name = match.group()
        if name == "mlir-opt" and self.peek() == "[":
            return [self.mlir_opt(start)]
        options = self.options(name) if self.peek() == "{" else []
        if self.take("("):
            children = self.elements_of(name)
            return self.composite(name, start, options, children)
        cls = self.find(name, start)
        return [self.build(cls, cls, name, start, options)]

    def elements_of(self, name: str) -> list[ModulePass]:
        """Return the passes in the parentheses after `name`, up to the closing one."""
        around = self.anchors
        if self.is_anchor(name):
            self.anchors = (*around, name)
        children = self.elements()
        self.expect(")", f"at the end of '{name}(...)'")
        self.anchors = around
        return children

    def composite(
        self, name: str, start: int, given: list[_ParsedOption], children: list[ModulePass]
    ) -> Sequence[ModulePass]:
        """Return the passes of `name{...}(...)`: a Sequential, a pass that repeats others, or the
        children of an anchor.
        """
        if name_key(name) == Sequential.name:
            make = partial(Sequential, children)
            return [self.build(make, SequentialOptions, name, start, given)]
        if (repeating := _REPEATING.get(name_key(name))) is not None:
            cls, options = repeating
            make = partial(cls, children)
            return [self.build(make, options, name, start, given)]
        if not self.is_anchor(name):
            self.find(name, start)
            end = start + len(name)
            raise self.fail(f"pass '{name}' has no passes in parentheses", start, end)
        if given:
            raise self.fail(f"'{name}(...)' has no options", given[0].start, given[0].end)
        # As in MLIR, the outermost one is the module itself, and inner ones are modules in it.
        if name in (ModuleOp.name, ANY) and not self.anchors:
            return children
        if not children:
            raise self.fail(f"'{name}(...)' contains no passes", start, start + len(name))
        try:
            return [nest(child, name) for child in children]
        except ValueError as error:
            raise self.fail(str(error), start, start + len(name)) from None

    def is_anchor(self, name: str) -> bool:
        """Return whether `name` is an anchor: `any`, or a name with a dot, as `func.func`, that is
        no pass."""
        return name == ANY or ("." in name and name_key(name) not in self.names)

    def mlir_opt(self, start: int) -> ModulePass:
        """Return the pass for `mlir-opt[...]`: a pipeline that MLIR's own tool runs, spelled as in
        xDSL.
        """
        pipeline = self.bracketed("[", "]")
        arguments = (
            "--mlir-print-op-generic",
            "--allow-unregistered-dialect",
            "-p",
            f"builtin.module({pipeline})",
        )
        cls = self.find("mlir-opt", start)
        return cls(**{"arguments": arguments})

    def bracketed(self, opening: str, closing: str) -> str:
        """Consume the text from an opening bracket here to its closing one; return what is
        between them."""
        start, depth = self.at, 0
        for at in range(start, len(self.text)):
            depth += {opening: 1, closing: -1}.get(self.text[at], 0)
            if depth == 0:
                self.at = at + 1
                return self.text[start + 1 : at]
        raise self.fail(f"unclosed '{opening}'", start)

    def find(self, name: str, start: int) -> type[ModulePass]:
        """Return the class of the pass called `name`, which begins at `start`."""
        if (found := self.names.get(name_key(name))) is not None:
            return self.available[found]()
        composites = (Sequential.name, *_REPEATING, ANY)
        if name_key(name) in composites:
            message = f"'{name}' is made of passes: write {name}(...)"
        else:
            hint = did_you_mean(name, [*self.available, *composites])
            if not hint and "mlir-opt" in self.available:
                hint = f"; a pass of MLIR's runs as mlir-opt[{name}]"
            message = f"there is no pass '{name}'{hint}"
        raise self.fail(message, start, start + len(name))

    def build(
        self,
        make: Callable[..., ModulePass],
        cls: type,
        name: str,
        start: int,
        given: list[_ParsedOption],
    ) -> ModulePass:
        """Return the pass that `make` returns for the options, which are the fields of `cls`."""
        fields = self.fields(cls, name, start, given)
        try:
            pass_ = make(**fields)
            info_of(pass_)  # checks values that the types allow, as the constructor does
        except (TypeError, ValueError) as error:
            raise self.fail(f"'{name}': {error}", start, start + len(name)) from error
        return pass_

    # Options

    def options(self, name: str) -> list[_ParsedOption]:
        """Return the options in braces of the pass `name`, but for those that are ignored."""
        opening = self.at
        ignored = self.ignored_options(name)
        self.expect("{", "before options")
        given: list[_ParsedOption] = []
        comma = False
        while comma or not self.take("}"):
            if not self.peek():
                raise self.fail("unclosed '{'", opening)
            given.append(self.option("" if comma else ", or '}'", ignored))
            comma = self.take(",")
        if left_out := [option.name for option in given if option.name in ignored]:
            self.warn_once(
                f"'{name}' here has no option {', '.join(left_out)}: ignored, unlike in mlir-opt"
            )
        return [option for option in given if option.name not in ignored]

    def ignored_options(self, name: str) -> frozenset[str]:
        """Return the options that only MLIR's pass of a name has."""
        if (options := MLIR_OPTIONS.get(name)) is None or name not in self.available:
            return frozenset()
        own = pass_options(self.available[name]())
        return frozenset(options).difference(option.name for option in own)

    def option(self, alternative: str, ignored: Container[str]) -> _ParsedOption:
        """Return one option, without the value of an ignored one; `alternative` ends the error
        message for a missing name."""
        start = self.at
        if (match := self.match(_NAME)) is None:
            raise self.fail(f"expected the name of an option{alternative}")
        values: list[OptionText] = []
        if self.take("="):
            if self.match(_NO_VALUE) is not None:
                return _ParsedOption(match.group(), [OptionText("")], start, self.at)
            if match.group() in ignored:
                self.skip_value()
                return _ParsedOption(match.group(), [], start, self.at)
            values += self.values()
            while self.peek() == "," and _NEXT_OPTION.match(self.text, self.at) is None:
                self.take(",")
                values += self.values()
        return _ParsedOption(match.group(), values, start, self.at)

    def values(self) -> list[OptionText]:
        """Return one value, or those of a list in braces."""
        if not self.take("{"):
            return [self.value()]
        values: list[OptionText] = []
        while values or not self.take("}"):
            values.append(self.value())
            if self.take("}"):
                break
            self.expect(",", "or '}' in a list")
        return values

    def skip_value(self) -> None:
        """Consume the value of an option that is ignored: MLIR's may be a pipeline."""
        while (match := self.match(_SKIPPED)) is not None:
            if match.group() in _CLOSING:
                self.at -= 1
                self.bracketed(match.group(), _CLOSING[match.group()])

    def value(self) -> OptionText:
        """Return one value, without its quotes."""
        self.peek()
        if (match := self.match(_VALUE)) is None:
            unclosed = self.text.startswith('"', self.at)
            raise self.fail("unclosed '\"'" if unclosed else "expected a value")
        if (quoted := match["quoted"]) is None:
            return OptionText(match["bare"])
        text = re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), quoted, flags=re.DOTALL)
        return OptionText(text, quoted=True)

    def fields(
        self, cls: type, name: str, start: int, given: list[_ParsedOption]
    ) -> dict[str, object]:
        """Return the keyword arguments that the options set, with the types of the fields of
        `cls`.
        """
        fields: dict[str, object] = {}
        for option in given:
            try:
                known = find_option(cls, option.name, name)
            except ValueError as error:
                raise self.fail(str(error), option.start, option.start + len(option.name)) from None
            if known.field in fields:
                raise self.fail(
                    f"option '{option.name}' of '{name}' is given twice", option.start, option.end
                )
            try:
                fields[known.field] = value = from_text(option.values, known.type)
                check_range(known, value)
            except ValueError as error:
                message = f"option '{option.name}' of '{name}': {error}"
                raise self.fail(message, option.start, option.end) from None
        for known in pass_options(cls):
            if known.default is dataclasses.MISSING and known.field not in fields:
                raise self.fail(
                    f"'{name}' needs the option '{known.name}'", start, start + len(name)
                )
        return fields
