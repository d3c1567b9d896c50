"""The text of pipelines, parsed and printed: `a,b{x=1}`, `func.func(a,b)`,
`sequential{name="x"}(a,b)`, `fixpoint(a)`, `repeat{n=2}(a)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .anchors import ANY, AnchorOptions, OpAnchor, nest
from .names import find_name, name_key, unknown_pass
from .option_text import NAME, OptionReader, ParsedOption
from .options import MLIR_OPTIONS, pass_options
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
    that is no module holds no pass that needs the module. `**func.func(...)` are those at any
    depth, `func.func{name="f.*"}(...)` those whose whole name the regular expression matches. The
    text of options is described at `OptionReader`. Options that only MLIR's pass of a name has are
    ignored; `warn` gets a message, which is logged by default.

    Errors: PipelineSyntaxError, with the text and a caret.
    """
    available = installed().passes if passes is None else passes
    return _Parser(text, available, warn).parse()


_REPEATING: Mapping[str, tuple[Callable[..., ModulePass], type]] = {
    Fixpoint.name: (Fixpoint, FixpointOptions),
    Repeat.name: (Repeat, RepeatOptions),
}
"""The passes that run one pass, or else a Sequential, several times, and their options."""


_MAX_DEPTH = 100
"""The limit on nested parentheses, so that recursion ends with an error in the text."""


class _Parser(OptionReader):
    """A recursive-descent parser of pipelines."""

    def __init__(
        self, text: str, available: Mapping[str, PassFactory], warn: Callable[[str], None] | None
    ) -> None:
        super().__init__(text, warn)
        self.available = available
        self.depth = 0
        self.names = {name_key(name): name for name in available}
        self.anchors: tuple[str, ...] = ()
        """The anchors around the current place, outermost first."""

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
        recursive = self.peek() == "*" and self.text.startswith("**", self.at)
        self.at += 2 * recursive
        start = self.at
        if (match := self.match(NAME)) is None:
            raise self.fail("expected the name of a pass")
        name = match.group()
        if recursive and not self.is_anchor(name):
            raise self.fail(f"'**' stands before an anchor, as in **func.func({name})", start - 2)
        if name == "mlir-opt" and self.peek() == "[":
            return [self.mlir_opt(start)]
        options = self.options_of(name) if self.peek() == "{" else []
        if self.take("("):
            children = self.elements_of(name)
            return self.composite(name, start, options, children, recursive)
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
        self,
        name: str,
        start: int,
        given: list[ParsedOption],
        children: list[ModulePass],
        recursive: bool,
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
        options = AnchorOptions(**self.fields(AnchorOptions, f"{name}(...)", start, given))
        try:
            anchor = OpAnchor.of(name, recursive, options.name)
            # As in MLIR, the outermost one is the module itself, and inner ones are modules in it.
            if name in (ModuleOp.name, ANY) and not self.anchors and anchor.is_plain:
                return children
            if not children:
                raise ValueError(f"'{name}(...)' contains no passes")
            return [nest(child, anchor) for child in children]
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
        opening = self.at
        self.brackets()
        pipeline = self.text[opening + 1 : self.at - 1]
        arguments = (
            "--mlir-print-op-generic",
            "--allow-unregistered-dialect",
            "-p",
            f"builtin.module({pipeline})",
        )
        cls = self.find("mlir-opt", start)
        return cls(**{"arguments": arguments})

    def find(self, name: str, start: int) -> type[ModulePass]:
        """Return the class of the pass called `name`, which begins at `start`."""
        if (found := find_name(name, self.names)) is not None:
            return self.available[found]()
        composites = (Sequential.name, *_REPEATING, ANY)
        if name_key(name) in composites:
            message = f"'{name}' is made of passes: write {name}(...)"
        else:
            hint = unknown_pass(name, [*self.available, *composites])
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
        given: list[ParsedOption],
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

    def options_of(self, name: str) -> list[ParsedOption]:
        """Return the options in braces of the pass `name`, but for those that are ignored."""
        given = self.options()
        ignored = self.ignored_options(name)
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
