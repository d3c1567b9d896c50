"""Pipelines as text, both ways: `a,b{x=1}`, `func.func(a,b)`, `sequential{name="x"}(a,b)`,
`fixpoint(a)`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from xdsl.passes import ModulePass

from .base import FunctionPass
from .errors import PipelineSyntaxError
from .info import did_you_mean, name_key
from .option_text import OptionText, from_text
from .options import find_option, pass_options
from .registry import installed
from .runner import info_of, nested_passes
from .sequential import Fixpoint, FixpointOptions, Sequential, SequentialOptions

__all__ = ["anchor_of", "parse_pipeline", "pipeline_text"]

PassFactory = Callable[[], type[ModulePass]]


def pipeline_text(pipeline: ModulePass) -> str:
    """The text that `parse_pipeline` reads back as the same pipeline."""
    if isinstance(pipeline, Sequential) and pipeline.options == SequentialOptions():
        return ",".join(info_of(child).text for child in pipeline.passes)
    return info_of(pipeline).text


def parse_pipeline(text: str, passes: Mapping[str, PassFactory] | None = None) -> Sequential:
    """The pipeline that `text` spells, of the passes in `passes`, by default all that are
    installed.

    Names may be in TVM's spelling; blanks and newlines are allowed. `builtin.module(...)` groups;
    another anchor, as `func.func(...)`, holds only function passes that visit such ops. Options
    stand apart by blanks or commas; after `x=1` a comma begins the next option only if that is
    `y=...`, for else it is the next element of a list. Errors: PipelineSyntaxError, with the text
    and a caret.
    """
    return _Parser(text, installed().passes if passes is None else passes).parse()


def anchor_of(cls: type[ModulePass]) -> str:
    """The name of the ops that passes of a class visit."""
    return cls.anchor.name if issubclass(cls, FunctionPass) else "builtin.module"


class _Given(NamedTuple):
    """One option as it stands in the text."""

    name: str
    values: list[OptionText]
    start: int
    end: int


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_VALUE = re.compile(r'"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<bare>[^\s,{}"]+)', re.DOTALL)
_NEXT_OPTION = re.compile(r",\s*[A-Za-z_][A-Za-z0-9_\-]*\s*=")
_BLANKS = re.compile(r"\s*")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class _Parser:
    """A recursive descent over the text; `at` is where it has come to."""

    def __init__(self, text: str, available: Mapping[str, PassFactory]) -> None:
        self.text, self.at = text, 0
        self.available = available
        self.names = {name_key(name): name for name in available}

    # Characters

    def fail(self, message: str, start: int | None = None, end: int | None = None):
        start = min(self.at if start is None else start, len(self.text.rstrip()))
        return PipelineSyntaxError(message, self.text, start, end)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what the pattern matches here, if it does."""
        if (match := pattern.match(self.text, self.at)) is not None:
            self.at = match.end()
        return match

    def peek(self) -> str:
        """The next character that is no blank; empty at the end."""
        self.match(_BLANKS)
        return self.text[self.at : self.at + 1]

    def take(self, character: str) -> bool:
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def expect(self, character: str, where: str) -> None:
        if not self.take(character):
            got = f"'{self.peek()}'" if self.peek() else "the end"
            raise self.fail(f"expected '{character}' {where}, got {got}")

    # Pipelines

    def parse(self) -> Sequential:
        passes = self.elements()
        if self.peek() == ")":
            raise self.fail("this ')' closes nothing")
        if self.peek():
            raise self.fail("expected ',' or the end after a pass")
        return Sequential(passes)

    def elements(self) -> list[ModulePass]:
        """Passes up to the end or a closing parenthesis."""
        passes: list[ModulePass] = []
        if self.peek() in ("", ")"):
            return passes
        passes += self.element()
        while self.take(","):
            passes += self.element()
        return passes

    def element(self) -> Sequence[ModulePass]:
        self.peek()
        start = self.at
        if (match := self.match(_NAME)) is None:
            raise self.fail("expected the name of a pass")
        name = match.group()
        if name == "mlir-opt" and self.peek() == "[":
            return [self.mlir_opt(start)]
        options = self.options() if self.peek() == "{" else []
        if self.take("("):
            children = self.elements()
            self.expect(")", f"at the end of '{name}(...)'")
            return self.composite(name, start, options, children)
        cls = self.find(name, start)
        return [self.build(cls, cls, name, start, options)]

    def composite(
        self, name: str, start: int, given: list[_Given], children: list[ModulePass]
    ) -> Sequence[ModulePass]:
        if name_key(name) == Sequential.name:
            make = partial(Sequential, children)
            return [self.build(make, SequentialOptions, name, start, given)]
        if name_key(name) == Fixpoint.name:
            make = partial(Fixpoint, children[0] if len(children) == 1 else Sequential(children))
            return [self.build(make, FixpointOptions, name, start, given)]
        if "." not in name or name_key(name) in self.names:
            self.find(name, start)
            end = start + len(name)
            raise self.fail(f"pass '{name}' has no passes in parentheses", start, end)
        if given:
            raise self.fail(f"'{name}(...)' has no options", given[0].start, given[0].end)
        if name != "builtin.module":
            self.check_anchor(name, start, children)
        return children

    def check_anchor(self, anchor: str, start: int, children: list[ModulePass]) -> None:
        """Raise unless every pass in `children` is a function pass that visits `anchor` ops."""
        if not children:
            raise self.fail(f"'{anchor}(...)' holds no passes", start, start + len(anchor))
        for child in children:
            for pass_ in nested_passes(child):
                if info_of(pass_).composite:
                    continue
                visited = anchor_of(type(pass_))
                if visited != anchor:
                    name = info_of(pass_).name
                    raise self.fail(
                        f"'{name}' runs on '{visited}', not on '{anchor}': "
                        f"did you mean {visited}({name})?",
                        start,
                        start + len(anchor),
                    )

    def mlir_opt(self, start: int) -> ModulePass:
        """`mlir-opt[...]`: a pipeline for MLIR's tool, as xDSL spells it."""
        opening, depth = self.at, 0
        for at in range(opening, len(self.text)):
            depth += {"[": 1, "]": -1}.get(self.text[at], 0)
            if depth == 0:
                self.at = at + 1
                break
        else:
            raise self.fail("this '[' is never closed", opening)
        arguments = (
            "--mlir-print-op-generic",
            "--allow-unregistered-dialect",
            "-p",
            f"builtin.module({self.text[opening + 1 : self.at - 1]})",
        )
        cls = self.find("mlir-opt", start)
        return cls(**{"arguments": arguments})

    def find(self, name: str, start: int) -> type[ModulePass]:
        if (found := self.names.get(name_key(name))) is not None:
            return self.available[found]()
        composites = (Sequential.name, Fixpoint.name)
        if name_key(name) in composites:
            message = f"'{name}' is made of passes: write {name}(...)"
        else:
            hint = did_you_mean(name, [*self.available, *composites])
            message = f"there is no pass '{name}'{hint}"
        raise self.fail(message, start, start + len(name))

    def build(
        self,
        make: Callable[..., ModulePass],
        cls: type,
        name: str,
        start: int,
        given: list[_Given],
    ) -> ModulePass:
        """The pass that `make` makes of the options, which are the fields of `cls`."""
        fields = self.fields(cls, name, start, given)
        try:
            pass_ = make(**fields)
            info_of(pass_)  # Refuses, as the constructor does, values that the types let through.
        except (TypeError, ValueError) as error:
            raise self.fail(f"'{name}': {error}", start, start + len(name)) from error
        return pass_

    # Options

    def options(self) -> list[_Given]:
        opening = self.at
        self.expect("{", "before options")
        given: list[_Given] = []
        comma = False
        while comma or not self.take("}"):
            if not self.peek():
                raise self.fail("this '{' is never closed", opening)
            given.append(self.option("" if comma else ", or '}'"))
            comma = self.take(",")
        return given

    def option(self, alternative: str) -> _Given:
        start = self.at
        if (match := self.match(_NAME)) is None:
            raise self.fail(f"expected the name of an option{alternative}")
        values: list[OptionText] = []
        if self.take("="):
            values.append(self.value())
            while self.peek() == "," and _NEXT_OPTION.match(self.text, self.at) is None:
                self.take(",")
                values.append(self.value())
        return _Given(match.group(), values, start, self.at)

    def value(self) -> OptionText:
        self.peek()
        if (match := self.match(_VALUE)) is None:
            unclosed = self.text.startswith('"', self.at)
            raise self.fail("this '\"' is never closed" if unclosed else "expected a value")
        if (quoted := match["quoted"]) is None:
            return OptionText(match["bare"])
        text = re.sub(r"\\(.)", lambda m: _ESCAPED.get(m[1], m[1]), quoted, flags=re.DOTALL)
        return OptionText(text, quoted=True)

    def fields(self, cls: type, name: str, start: int, given: list[_Given]) -> dict[str, object]:
        """The constructor arguments that the options spell."""
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
                fields[known.field] = from_text(option.values, known.type)
            except ValueError as error:
                message = f"option '{option.name}' of '{name}': {error}"
                raise self.fail(message, option.start, option.end) from None
        for known in pass_options(cls):
            if known.default is dataclasses.MISSING and known.field not in fields:
                raise self.fail(
                    f"'{name}' needs the option '{known.name}'", start, start + len(name)
                )
        return fields
