"""The base classes of passes: Pass, ModulePass and FunctionPass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, cached_property
from inspect import Parameter, Signature, get_annotations, isabstract
from os import PathLike
from typing import TYPE_CHECKING, ClassVar, Generic, Self, cast, final, get_args, get_origin

from typing_extensions import TypeVar
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from .context import PassContext
from .errors import PassContractError
from .fast.clone import clone
from .ir.walk import brief, is_skipped, symbol_of
from .names import closest_name, kebab_case
from .options import check_values, pass_text
from .output.html import to_html
from .registry import PassInfo, check_level, check_name, check_names, check_spelling
from .requirements import run_required
from .run import PassFrame, Run
from .runner import AbstractPass, current_instrumentor, replace_contents, run_pass

_METADATA = (
    *("name", "opt_level", "required", "preserves", "requires", "ensures"),
    *("after", "before", "stage"),
    *("nestable", "rounds", "changes_interface", "acts_on"),
    *("parallel", "traceable", "statistics", "remark_categories"),
)

_MEANT = (*_METADATA[1:-1], "anchor")
"""The attributes for which others may be meant: not `name`, as a pass may have `names`, and not
the last, as many attributes begin with its letters: `remove_dead`."""

AnchorT = TypeVar("AnchorT", bound=Operation, default=FuncOp)


def check_metadata(cls: type[Pass]) -> None:
    """Raise TypeError or ValueError if the name, level or requirements of a pass class are invalid,
    if one of them is annotated, which would make it an option, or if its name is misspelled.
    """
    fields = _fields_of(cls)
    for annotated in fields.intersection(_METADATA):
        raise TypeError(
            f"{cls.__name__}.{annotated} has an annotation and would become an option: "
            f"write `{annotated} = ...`"
        )
    check_name(cls.name)
    check_spelling(cls.name)
    check_level(cls.opt_level)
    if cls.requires or cls.ensures:
        _check_conditions(cls)
    for attribute in ("required", "after", "before"):
        try:
            check_names(f"{cls.__name__}.{attribute}", getattr(cls, attribute))
        except TypeError:
            _check_conditions(cls)  # a better message, if `required` holds a condition
            raise
    if not isinstance(cls.stage, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{cls.__name__}.stage is the name of a stage, not {cls.stage!r}")
    _check_attributes(cls, fields)


def _check_conditions(cls: type[Pass]) -> None:
    from .conditions import check_conditions  # which few passes need

    check_conditions(cls)


@cache
def check_options(cls: type[Pass]) -> None:
    """Raise TypeError if a pass class has annotated fields, but no `@dataclass` that makes them
    options.
    """
    for base in cls.__mro__:
        if issubclass(base, Pass) and "__dataclass_fields__" not in base.__dict__:
            if fields := sorted(_fields_of(base)):
                raise TypeError(
                    f"{base.__name__} has the option {fields[0]} but is not a dataclass: "
                    "write @dataclass(frozen=True) above the class"
                )


def _check_attributes(cls: type[Pass], fields: Set[str]) -> None:
    """Raise TypeError if a class attribute almost has the name of metadata, as `require`: nobody
    would read it. Options, methods and attributes of a base class are left alone.
    """
    for name, value in cast(Mapping[str, object], vars(cls)).items():
        if name.startswith("_") or name in (*fields, *_MEANT) or hasattr(type(value), "__get__"):
            continue
        if any(hasattr(base, name) for base in cls.__bases__):
            continue
        # Few names begin with the same letters, so that `difflib` is hardly ever imported.
        near = [attribute for attribute in _MEANT if attribute[:3] == name[:3]]
        known = [attribute for attribute in near if hasattr(cls, attribute)]
        if known and (meant := closest_name(name, known, cutoff=0.85)):
            raise TypeError(f"{cls.__name__}.{name} has no meaning, did you mean '{meant}'?")


def _fields_of(cls: type) -> set[str]:
    """Return the names annotated in the body of `cls`, without class variables."""
    annotations: dict[str, object] = get_annotations(cls)
    return {name for name, type_ in annotations.items() if "ClassVar" not in str(type_)}


class Pass(AbstractPass):
    """A transformation of a module, with a name, a level, requirements and options.

    `name` (by default that of the class in kebab-case), `opt_level`, `required` (names of passes),
    `preserves` (names of passes, analysis classes and conditions that stay valid when this pass
    changes something), `requires` and `ensures` (conditions on the IR before and after it),
    `after`, `before` and `stage` (where it belongs in a pipeline that it is added to: names of
    passes and stages), `rounds` (whether it may change the rounding of floats, as by reassociation,
    or the `Rounding` that says how), `changes_interface` (whether it may remove, rename or hide
    public functions, or change their parameters), `acts_on` (classes of ops without which it does
    nothing), `parallel` (whether its functions may go to workers), `traceable` (TVM's, which
    nothing reads), `statistics` (its counters, with descriptions), `remark_categories` (those of
    its remarks) are plain class attributes.
    Options are the annotated fields of a `@dataclass(frozen=True)` subclass. Calling a pass
    transforms a copy; `apply` works in place, and makes every pass usable as one of xDSL's. Derive
    from ModulePass or FunctionPass.
    """

    name: ClassVar[str] = "pass"

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A kind of pass, as FunctionPass, is abstract and keeps the name that marks it as unnamed.
        if cls.name is Pass.name and not isabstract(cls):
            cls.name = kebab_case(cls.__name__)
        check_metadata(cls)

    if not TYPE_CHECKING:  # pyright would check the constructor of every pass against this one

        def __new__(cls, *args: object, **kwargs: object) -> Self:
            check_options(cls)
            return super().__new__(cls)

        # A class with a constructor of its own shows that one; any other takes no arguments.
        __new__.__signature__ = Signature([Parameter("cls", Parameter.POSITIONAL_ONLY)])

    # Identity, unless a subclass is a dataclass, which compares its options.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @cached_property
    def info(self) -> PassInfo:
        """Name, level, requirements, and the pass with its options as text."""
        check_values(self)
        required = tuple(self.required)
        return PassInfo(
            self.name,
            self.opt_level,
            required,
            pass_text(self),
            rounds=self.rounds,
            changes_interface=self.changes_interface,
            traceable=self.traceable,
        )

    def __str__(self) -> str:
        return self.info.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.info.text}>"

    def _repr_html_(self) -> str:
        return to_html(self)

    @final
    def __call__(self, module: ModuleOp) -> ModuleOp:
        """Return a transformed copy of `module`, which does not change, also if the pass fails."""
        if not isinstance(module, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(_not_a_module(self.info.name, module))
        result = clone(module)
        with Run.on(result, None, current_instrumentor) as run:
            run_pass(self, self.info, run, PassContext.current())
        return result

    @final
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Transform `op` in place, as xDSL calls its passes: after the requirements, which xDSL's
        pipelines do not know. The requirements do not run if a pass on `op` is running already.
        """
        with Run.on(op, ctx, current_instrumentor) as run:
            context = PassContext.current()
            if self.info.required and not run.frames and not self.info.composite:
                run_required(self, run, context)
            run_pass(self, self.info, run, context)


class ModulePass(Pass):
    """A pass that transforms the whole module, and may add, delete and rename functions.

    `nestable = True` declares that it handles each op of the module by itself, and does none of
    that: a pipeline may then run it on one function alone, as `func.func(canonicalize)`.
    Source: `tvm.transform.ModulePass`.
    """

    @abstractmethod
    def transform_module(self, module: ModuleOp, ctx: PassContext) -> ModuleOp | None:
        """Transform `module` in place and return None, or return another module, a clone of which
        replaces it.
        """

    def units(self, module: ModuleOp) -> Sequence[Operation] | None:
        # Remarks about a module are in an order of their own, not by functions.
        if not self.nestable or PassContext.current().remark_filter:
            return None
        from .alone import units_alone

        return units_alone(module)

    def visit(
        self, op: Operation, module: ModuleOp, ctx: PassContext, frame: PassFrame
    ) -> Operation:
        from .alone import visit_alone

        return visit_alone(self, op, module, ctx, (self.info.name, op.name))

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        result = self.transform_module(module, ctx)
        if result is None or result is module:
            return
        if not isinstance(result, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"transform_module of pass '{self.info.name}' returned {brief(result)}; "
                "a module pass returns None or a module"
            )
        if not result.is_ancestor(module):  # the runner refuses a pass that moves the module
            replace_contents(module, clone(result))


class FunctionPass(Pass, Generic[AnchorT]):
    """A pass that transforms one function at a time, and may not add, delete or rename any.

    It visits the ops of class `anchor` that have a body, directly in the module and in order, and
    skips those with the attribute `passline.skip_optimization`, or TVM's `SkipOptimization`.
    `FunctionPass[llvm.FuncOp]` sets the anchor.

    Errors: PassContractError, which names the pass and the functions.
    Source: `tvm.relax.transform.FunctionPass`.
    """

    anchor: ClassVar[type[Operation]] = FuncOp

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__dict__.get("__orig_bases__", ()):
            origin, arguments = get_origin(base), get_args(base)
            if isinstance(origin, type) and issubclass(origin, FunctionPass):
                if isinstance(arguments[0], type) and "anchor" not in cls.__dict__:
                    cls.anchor = arguments[0]

    @abstractmethod
    def transform_function(
        self, func: AnchorT, module: ModuleOp, ctx: PassContext
    ) -> AnchorT | None:
        """Transform `func` in place and return None, or return another function, a clone of which
        replaces it, under the name and with the visibility of `func`; there is a warning if it has
        another name.
        """

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        frame = Run.current().frames[-1]
        block = module.body.block
        # Two checks of the contract: one of each function, which names the culprit and takes
        # constant time; and one of all symbols at the end, which finds added functions, too.
        symbols = _symbols(block)
        if ctx.instrumentor.visitors:
            self._visit_and_tell(module, ctx, frame)
        else:
            for func in [op for op in block.ops if self.visits(op)]:
                self.visit(func, module, ctx, frame)
        frame.function = None
        self._check_symbols(symbols, _symbols(block))

    def _visit_and_tell(self, module: ModuleOp, ctx: PassContext, frame: PassFrame) -> None:
        """Visit the functions, and tell the instruments of each."""

        def visit(op: Operation) -> Operation:
            return self.visit(op, module, ctx, frame)

        for func in self.visited(module):
            ctx.instrumentor.visit(func, self.info, visit)

    @contextmanager
    def keeping_symbols(self, module: ModuleOp) -> Generator[None]:
        """Raise PassContractError at the end if the symbols directly in `module` are others."""
        symbols = _symbols(module.body.block)
        yield
        self._check_symbols(symbols, _symbols(module.body.block))

    def visited(self, module: ModuleOp) -> Sequence[Operation]:
        return [op for op in module.ops if self.visits(op)]

    def units(self, module: ModuleOp) -> Sequence[Operation] | None:
        cls: type[Pass] = type(self)
        bases = cls.__mro__[: cls.__mro__.index(FunctionPass)]
        if any("transform" in vars(base) for base in bases):
            return None
        return self.visited(module)

    @final
    def visit(
        self, op: Operation, module: ModuleOp, ctx: PassContext, frame: PassFrame
    ) -> Operation:
        func = op
        block = module.body.block
        frame.function = func
        name = symbol_of(func)
        # A function that a visit of another one deleted is not visited, but reported below.
        if func.parent is block:
            result = self.transform_function(func, module, ctx)  # pyright: ignore[reportArgumentType]
            if result is not None and result is not func:
                if symbol_of(self._checked(result)) != name:
                    _warn_about_name(result, name, frame)
                func = _replace_function(func, result)
        self._check_function(func, name, block)
        return func

    def visits(self, op: Operation) -> bool:
        """Return whether this pass visits `op`: a function of its anchor that has a body and is not
        marked to be skipped.
        """
        return (
            isinstance(op, self.anchor)
            and any(region.blocks for region in op.regions)
            and not is_skipped(op)
        )

    def _checked(self, result: Operation) -> Operation:
        if not isinstance(result, self.anchor):
            raise TypeError(
                f"transform_function of pass '{self.info.name}' returned {brief(result)}; "
                f"it returns None or a {self.anchor.name}"
            )
        return result

    def _check_function(self, func: Operation, name: str, block: Block) -> None:
        if func.parent is not block:
            self._break_contract(f"deleted @{name}")
        if (now := symbol_of(func)) != name:
            self._break_contract(f"renamed @{name} to @{now}")

    def _check_symbols(self, before: list[str], after: list[str]) -> None:
        if before == after:
            return
        old, new = set(before), set(after)
        added = [f"added @{name}" for name in after if name not in old]
        deleted = [f"deleted @{name}" for name in before if name not in new]
        self._break_contract(", ".join(added + deleted) or "changed the order of the functions")

    def _break_contract(self, violation: str) -> None:
        raise PassContractError(
            f"function pass '{self.info.name}' {violation}: a function pass may not "
            "add, delete or rename functions; "
            "derive from ModulePass to do so"
        )


def _not_a_module(name: str, given: object) -> str:
    """Return the message that a pass is called with something else than a module."""
    advice = ""
    if isinstance(given, Operation):
        advice = ": give the module that it is in, or ModuleOp([op])"
    elif isinstance(given, str | PathLike):
        advice = ": read it with passline.load"
    return f"pass '{name}' is called with a module, not with {brief(cast(object, given))}{advice}"


def _warn_about_name(result: Operation, name: str, frame: PassFrame) -> None:
    """Warn that a function which a pass returned does not get the name that it has."""
    other = f"@{found}" if (found := symbol_of(result)) else "a function without a name"
    frame.diagnostics.warning(
        None,
        f"pass '{frame.info.name}' returned {other} for @{name}, which keeps its name: a function "
        "pass may not rename functions",
    )


def _replace_function(func: Operation, result: Operation) -> Operation:
    """Put a clone of `result` in the place of `func`, with its symbol name and visibility; return
    the clone.
    """
    new = clone(result)
    for key in ("sym_name", "sym_visibility"):
        for old, fresh in ((func.properties, new.properties), (func.attributes, new.attributes)):
            fresh.pop(key, None)
            if key in old:
                fresh[key] = old[key]
    assert func.parent is not None
    func.parent.insert_op_before(new, func)
    func.detach()
    return new


def _symbols(block: Block) -> list[str]:
    return [name for op in block.ops if (name := symbol_of(op))]
