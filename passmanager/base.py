"""Passes: what they are, what they may return, and how one is run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Generic, Self, final, get_args, get_origin

from typing_extensions import TypeIs, TypeVar
from xdsl import passes as xdsl_passes
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from .context import PassContext
from .errors import PassContractError
from .info import (
    PassInfo,
    check_level,
    check_name,
    check_names,
    check_spelling,
    did_you_mean,
    kebab_case,
    name_key,
)
from .instrument import PassInstrument
from .ir.symbols import symbol_of
from .ir.verifier import verify_changes
from .options import check_values, pass_text
from .preservation import check_preserved
from .registry import installed
from .run import Frame, Run

__all__ = ["FunctionPass", "ModulePass", "Pass", "info_of", "nested_passes", "run_pass"]

AnchorT = TypeVar("AnchorT", bound=Operation, default=FuncOp)


def _is_kind(cls: type) -> bool:
    """Whether a class is a kind of pass, and no pass: its transform methods are still to come."""
    methods = ("transform", "transform_module", "transform_function", "patterns")
    return any(
        getattr(getattr(cls, method, None), "__isabstractmethod__", False) for method in methods
    )


def _fields_of(cls: type) -> set[str]:
    """The names annotated in the body of `cls`, class variables left out."""
    annotations: dict[str, object] = cls.__dict__.get("__annotations__", {})
    return {name for name, type_ in annotations.items() if "ClassVar" not in str(type_)}


class Pass(xdsl_passes.ModulePass):
    """What all passes are: a transformation of a module, with a name, a level, requirements and
    options.

    `name` (by default that of the class in kebab-case), `opt_level`, `required` (names of passes)
    and `preserves` (names of passes and analysis classes that stay true when this pass changes
    something) are plain class attributes. Options are the annotated fields of a
    `@dataclass(frozen=True)` subclass. Calling a pass transforms a copy;
    `apply` works in place, and makes every pass one of xDSL's. Derive from ModulePass or
    FunctionPass.
    """

    name: ClassVar[str] = "pass"
    opt_level: ClassVar[int] = 0
    required: ClassVar[Sequence[str]] = ()
    preserves: ClassVar[Sequence[str | type]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for annotated in _fields_of(cls).intersection(
            ("name", "opt_level", "required", "preserves")
        ):
            raise TypeError(
                f"{cls.__name__}.{annotated} has an annotation and would become an option: "
                f"write `{annotated} = ...`"
            )
        if cls.name is Pass.name and not _is_kind(cls):
            cls.name = kebab_case(cls.__name__)
        check_name(cls.name)
        check_spelling(cls.name)
        check_level(cls.opt_level)
        check_names(f"{cls.__name__}.required", cls.required)

    if not TYPE_CHECKING:  # pyright would hold the constructor of every pass against it

        def __new__(cls, *args: object, **kwargs: object) -> Self:
            check_options(cls)
            return super().__new__(cls)

    # Identity, unless a subclass is a dataclass, which compares its options.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @cached_property
    def info(self) -> PassInfo:
        """Name, level, requirements, and the pass with its options as text."""
        check_values(self)
        return PassInfo(self.name, self.opt_level, tuple(self.required), pass_text(self))

    def __str__(self) -> str:
        return self.info.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.info.text}>"

    @property
    def children(self) -> tuple[xdsl_passes.ModulePass, ...]:
        """The passes that a composite is made of."""
        return ()

    @abstractmethod
    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        """Transform `module` in place: the body of the pass, without instruments and checks."""

    @final
    def __call__(self, module: ModuleOp) -> ModuleOp:
        """A transformed copy of `module`, which is left alone, also when the pass fails."""
        if not isinstance(module, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"pass '{self.info.name}' is called with a module, not with {module!r}")
        result = module.clone()
        with Run.on(result, None, _instruments) as run:
            run_pass(self, run, PassContext.current())
        return result

    @final
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Transform `op` in place: xDSL's protocol."""
        with Run.on(op, ctx, _instruments) as run:
            run_pass(self, run, PassContext.current())


class ModulePass(Pass):
    """A pass that sees the whole module and may add, delete and rename functions.

    Source: `tvm.transform.ModulePass`.
    """

    @abstractmethod
    def transform_module(self, module: ModuleOp, ctx: PassContext) -> ModuleOp | None:
        """Transform `module` in place and return None, or return another module, a clone of which
        replaces it.
        """

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        result = self.transform_module(module, ctx)
        if result is None or result is module:
            return
        if not isinstance(result, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                f"transform_module of pass '{self.info.name}' returned {result!r}; "
                "a module pass returns None or a module"
            )
        _become(module, result.clone())


class FunctionPass(Pass, Generic[AnchorT]):
    """A pass that sees one function at a time and may not add, delete or rename any.

    It visits the ops of class `anchor` that have a body, directly in the module and in order, and
    leaves out those with the attribute `passline.skip_optimization`. `FunctionPass[llvm.FuncOp]`
    sets the anchor. Errors: PassContractError, which names the pass and the functions. Source:
    `tvm.relax.transform.FunctionPass`.
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
        replaces it.
        """

    def transform(self, module: ModuleOp, ctx: PassContext) -> None:
        frame = Run.current().frames[-1]
        block = module.body.block
        symbols = _symbols(block)
        for func in [op for op in block.ops if self.visits(op)]:
            frame.function = func
            name = symbol_of(func)
            if func.parent is block:
                result = self.transform_function(func, module, ctx)  # pyright: ignore[reportArgumentType]
                if result is not None and result is not func:
                    func = _replace_function(func, self._checked(result))
            self._check_function(func, name, block)
        frame.function = None
        self._check_symbols(symbols, _symbols(block))

    def visits(self, op: Operation) -> bool:
        """Whether this pass visits `op`: a function with a body that nobody has asked to be left
        alone.
        """
        return (
            isinstance(op, self.anchor)
            and any(region.blocks for region in op.regions)
            and "passline.skip_optimization" not in op.attributes
        )

    def _checked(self, result: Operation) -> Operation:
        if not isinstance(result, self.anchor):
            raise TypeError(
                f"transform_function of pass '{self.info.name}' returned {result!r}; "
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
        added = [f"added @{name}" for name in after if name not in before]
        deleted = [f"deleted @{name}" for name in before if name not in after]
        self._break_contract(", ".join(added + deleted) or "changed the order of the functions")

    def _break_contract(self, what: str) -> None:
        raise PassContractError(
            f"function pass '{self.info.name}' {what}: a function pass may not "
            "add, delete or rename functions; "
            "derive from ModulePass to do so"
        )


@cache
def check_options(cls: type[Pass]) -> None:
    """Raise TypeError if a pass class has annotated fields that no `@dataclass` made options of."""
    for base in cls.__mro__:
        if issubclass(base, Pass) and "__dataclass_fields__" not in base.__dict__:
            if fields := sorted(_fields_of(base)):
                raise TypeError(
                    f"{base.__name__} has the option {fields[0]} but is no dataclass: "
                    "write @dataclass(frozen=True) above the class"
                )


# What a pass may return


def _become(module: ModuleOp, new: ModuleOp) -> None:
    """Give `module`, which keeps its identity, the body and attributes of `new`."""
    module.detach_region(0)
    module.add_region(new.detach_region(0))
    module.attributes, module.properties = new.attributes, new.properties


def _replace_function(func: Operation, result: Operation) -> Operation:
    """Put a clone of `result` where `func` is, under its symbol name and visibility; returns the
    clone.
    """
    new = result.clone()
    for key in ("sym_name", "sym_visibility"):
        for old, fresh in ((func.properties, new.properties), (func.attributes, new.attributes)):
            fresh.pop(key, None)
            if key in old:
                fresh[key] = old[key]
    block = func.parent
    assert block is not None
    block.insert_op_before(new, func)
    func.detach()
    return new


def _symbols(block: Block) -> list[str]:
    return [name for op in block.ops if (name := symbol_of(op))]


# How a pass is run


class _Own(dict[type[xdsl_passes.ModulePass], bool]):
    """Whether a pass class is one of ours; `isinstance` of an abstract class takes far longer."""

    def __missing__(self, cls: type[xdsl_passes.ModulePass]) -> bool:
        self[cls] = answer = issubclass(cls, Pass)
        return answer


_OWN = _Own()


def is_own(pass_: xdsl_passes.ModulePass) -> TypeIs[Pass]:
    """Whether a pass is one of ours."""
    return _OWN[type(pass_)]


def info_of(pass_: xdsl_passes.ModulePass) -> PassInfo:
    """The PassInfo of any pass; a pass of xDSL's or another project has level 0 and requires
    nothing.
    """
    return pass_.info if is_own(pass_) else PassInfo(pass_.name, text=pass_text(pass_))


def run_pass(pass_: xdsl_passes.ModulePass, run: Run, ctx: PassContext, place: str = "") -> bool:
    """Run one pass on the module of `run` under `ctx`, the present context; False if an instrument
    kept it from running.

    In this order: should_run, run_before_pass, the body, diagnostics, verification, run_after_pass.
    `place` says where the pass stands in its pipeline. An exception keeps its type and gains one
    note a level.
    """
    if not ctx.config.empty:
        pass_ = ctx.config.apply(pass_, pass_.name)
    info = info_of(pass_)
    module = run.module
    if ctx.instruments and (blocker := ctx.blocked_by(module, info)) is not None:
        ctx.report_skip(module, info, f"should_run of {blocker}")
        return False
    run.frames.append(frame := Frame(info, place))
    if len(run.frames) == 1:
        _warn_about_names(ctx, pass_, run)
    instruments = ctx.instruments
    try:
        if instruments:
            _tell_before(instruments, module, info)
        try:
            _transform(pass_, frame, run, ctx)
        except BaseException as error:
            frame.fail(error, ctx.renderer)
            ctx.report_failure(instruments, module, info, error)
            raise
        if ctx.instruments:
            _tell_after(ctx.instruments, module, info)
    finally:
        run.frames.pop()
    return True


def _instruments() -> Sequence[PassInstrument]:
    """Those of the present context."""
    return PassContext.current().instruments


def _tell_before(instruments: Sequence[PassInstrument], module: ModuleOp, info: PassInfo) -> None:
    for instrument in instruments:
        try:
            instrument.run_before_pass(module, info)
        except BaseException as error:
            error.add_note(f"in {instrument.name}.run_before_pass, for pass '{info.text}'")
            raise


def _tell_after(instruments: Sequence[PassInstrument], module: ModuleOp, info: PassInfo) -> None:
    for instrument in instruments:
        try:
            instrument.run_after_pass(module, info)
        except BaseException as error:
            error.add_note(f"in {instrument.name}.run_after_pass, for pass '{info.text}'")
            raise


def _transform(pass_: xdsl_passes.ModulePass, frame: Frame, run: Run, ctx: PassContext) -> None:
    """The body of a pass, then what it reported, then the verification of what it changed."""
    composite = frame.info.composite
    if (ctx.verify_each or ctx.verify_preserves) and not composite:
        run.watch()
    backup = run.module.clone() if ctx.rollback and not composite else None
    try:
        if is_own(pass_):
            pass_.transform(run.module, ctx)
        else:
            pass_.apply(run.ir_context, run.module)
        if frame.reported is not None:
            frame.flush(ctx.renderer)
        if run.watching:
            _settle(pass_, frame, run, ctx)
    except BaseException as error:
        if backup is not None:
            _become(run.module, backup)
            run.forget(error)
        raise


def _settle(pass_: xdsl_passes.ModulePass, frame: Frame, run: Run, ctx: PassContext) -> None:
    """See what the pass changed, which nothing is left of for a composite; check that, and what
    the pass preserves; keep what still holds.
    """
    preserves = pass_.preserves if is_own(pass_) else ()
    changes = None
    if not frame.info.composite:
        began = perf_counter()
        try:
            changes = run.changes()
            if changes and ctx.verify_each:
                verify_changes(run.module, changes)
        finally:
            frame.verify_time = perf_counter() - began
        if changes and ctx.verify_preserves:
            check_preserved(frame.info, preserves, changes, run)
    run.settle(frame.info, preserves, changes)


def _warn_about_names(ctx: PassContext, pass_: xdsl_passes.ModulePass, run: Run) -> None:
    """Report, once a context, names in it that are no pass of the pipeline and none that is
    installed.
    """
    if ctx.names_checked or not (ctx.required_pass or ctx.disabled_pass):
        return
    ctx.names_checked = True
    pipeline = {info_of(p).name for p in nested_passes(pass_)}
    known = {name_key(name) for name in pipeline}.union(installed().names)
    for setting in ("required_pass", "disabled_pass"):
        names: Sequence[str] = getattr(ctx, setting)
        for name in names:
            if name_key(name) not in known:
                hint = did_you_mean(name, [*pipeline, *installed().passes])
                run.diagnostics.warning(None, f"{setting} names '{name}', which is no pass{hint}")


def nested_passes(
    pass_: xdsl_passes.ModulePass, ctx: PassContext | None = None
) -> Iterator[xdsl_passes.ModulePass]:
    """`pass_` and the passes that it is made of, at any depth; with `ctx` only those that it
    enables.
    """
    yield pass_
    for child in pass_.children if is_own(pass_) else ():
        if ctx is None or ctx.pass_enabled(info_of(child)):
            yield from nested_passes(child, ctx)
