"""Decorators that make passes of plain functions and classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from types import new_class
from typing import Protocol, TypedDict, TypeVar, Unpack, cast, overload

from xdsl import passes as xdsl_passes
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from .base import FunctionPass, ModulePass, Pass, check_metadata
from .context import PassContext
from .names import did_you_mean, kebab_case
from .registry import check_level, check_name, check_names

C = TypeVar("C")
OpT = TypeVar("OpT", bound=Operation)

ModuleFunction = Callable[[ModuleOp, PassContext], ModuleOp | None]
FunctionFunction = Callable[[OpT, ModuleOp, PassContext], OpT | None]


class FurtherMetadata(TypedDict, total=False):
    """The place of a pass in pipelines, and TVM's `traceable`; the keys mean what the class
    attributes of a pass mean."""

    after: Sequence[str]
    before: Sequence[str]
    stage: str
    traceable: bool


_KEYWORDS = ("opt_level", "name", "required", "anchor", *FurtherMetadata.__annotations__)


class ModuleDecorator(Protocol):
    """The result of `module_pass` called with keyword arguments only."""

    @overload
    def __call__(self, decorated: type[C], /) -> type[C]: ...
    @overload
    def __call__(self, decorated: ModuleFunction, /) -> ModulePass: ...


class FunctionDecorator(Protocol):
    """The result of `function_pass` called with keyword arguments only."""

    @overload
    def __call__(self, decorated: type[C], /) -> type[C]: ...
    @overload
    def __call__(self, decorated: FunctionFunction[OpT], /) -> FunctionPass[OpT]: ...


@overload
def module_pass(
    pass_func: type[C],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **placement: Unpack[FurtherMetadata],
) -> type[C]: ...
@overload
def module_pass(
    pass_func: ModuleFunction,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **placement: Unpack[FurtherMetadata],
) -> ModulePass: ...
@overload
def module_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **placement: Unpack[FurtherMetadata],
) -> ModuleDecorator: ...
def module_pass(
    pass_func: object = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **placement: Unpack[FurtherMetadata],
) -> object:
    """Make a module pass of a function `(module, ctx)`, or of a class with the method
    `transform_module(module, ctx)`.

    A function becomes a pass; a class becomes a subclass of itself and of ModulePass, unless it
    derives from ModulePass already and only gets the metadata. The default name is the kebab-case
    of the function's or class's name; `after`, `before` and `stage` say where the pass belongs in a
    pipeline that it is added to. Source: `tvm.transform.module_pass`.
    """
    metadata = _metadata(opt_level, required, placement)

    def decorate(decorated: object) -> object:
        return _decorate(decorated, ModulePass, "transform_module", name, metadata)

    return decorate if pass_func is None else decorate(pass_func)


@overload
def function_pass(
    pass_func: type[C],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    anchor: type[Operation] = FuncOp,
    **placement: Unpack[FurtherMetadata],
) -> type[C]: ...
@overload
def function_pass(
    pass_func: FunctionFunction[OpT],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    anchor: type[Operation] = FuncOp,
    **placement: Unpack[FurtherMetadata],
) -> FunctionPass[OpT]: ...
@overload
def function_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    anchor: type[Operation] = FuncOp,
    **placement: Unpack[FurtherMetadata],
) -> FunctionDecorator: ...
def function_pass(
    pass_func: object = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    anchor: type[Operation] | None = None,
    **placement: Unpack[FurtherMetadata],
) -> object:
    """Make a function pass of a function `(func, module, ctx)`, or of a class with the method
    `transform_function`.

    As `module_pass`; `anchor` is the class of the functions to visit, by default `func.FuncOp`.
    Source: `tvm.relax.transform.function_pass`.
    """
    metadata = _metadata(opt_level, required, placement)
    if anchor is not None:
        if not (isinstance(anchor, type) and issubclass(anchor, Operation)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"anchor is a class of operations, not {anchor!r}")
        metadata["anchor"] = anchor

    def decorate(decorated: object) -> object:
        return _decorate(decorated, FunctionPass, "transform_function", name, metadata)

    return decorate if pass_func is None else decorate(pass_func)


def _metadata(
    opt_level: int | None, required: Sequence[str] | None, placement: FurtherMetadata
) -> dict[str, object]:
    """Return the class attributes that the arguments of a decorator set."""
    given: dict[str, object] = {}
    if opt_level is not None:
        check_level(opt_level)
        given["opt_level"] = opt_level
    if required is not None:
        given["required"] = check_names("required", required)
    for name in placement:
        if name not in FurtherMetadata.__annotations__:
            raise TypeError(f"a pass has no metadata '{name}'{did_you_mean(name, _KEYWORDS)}")
    return given | placement


def _decorate(
    decorated: object, base: type[Pass], method: str, name: str | None, metadata: dict[str, object]
) -> object:
    """Return a pass of kind `base` for a function, a pass class for a class."""
    if not callable(decorated) or isinstance(decorated, xdsl_passes.ModulePass):
        raise TypeError(f"{base.__name__} is made of a function or a class, not of {decorated!r}")
    own = {"name": _default_name(decorated) if name is None else name, **metadata}
    check_name(own["name"])
    if isinstance(decorated, type):
        cls = cast(type[object], decorated)
        if name is None and isinstance(cls.__dict__.get("name"), str):
            del own["name"]
        return _decorate_class(cls, base, method, own)
    parameters = ("module", "ctx") if base is ModulePass else ("func", "module", "ctx")
    _check_parameters(decorated, parameters, str(own["name"]))
    # A static method, since the function has no `self`.
    return _subclass(decorated, (base,), {**own, method: staticmethod(decorated)})()


def _check_parameters(function: Callable[..., object], expected: Sequence[str], name: str) -> None:
    """Raise TypeError if the function of a pass cannot be called with the arguments `expected`."""
    try:
        parameters = signature(function)
    except ValueError:  # a function written in C may have none
        return
    try:
        parameters.bind(*expected)
    except TypeError:
        raise TypeError(
            f"the function of pass '{name}' takes ({', '.join(expected)}), not {parameters}"
        ) from None


def _decorate_class(
    cls: type[object], base: type[Pass], method: str, own: dict[str, object]
) -> type[object]:
    """Return `cls` with the metadata if it is a pass class already, else a subclass of it and
    `base`.
    """
    if not issubclass(cls, base):
        if not callable(getattr(cls, method, None)):
            raise TypeError(f"{cls.__name__} has no method {method}, which a {base.__name__} needs")
        return _subclass(cls, (cls, base), own)
    for attribute, value in own.items():
        setattr(cls, attribute, value)
    check_metadata(cls)
    return cls


def _default_name(decorated: object) -> str:
    """Return the kebab-case of the name of a function or class; TypeError if it has no usable
    name.
    """
    name: object = getattr(decorated, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise TypeError(f"{decorated!r} has no name that a pass could have: give name=...")
    return kebab_case(name)


def _subclass(like: object, bases: tuple[type, ...], attributes: dict[str, object]) -> type[Pass]:
    """Return a new class with the name, module and docstring of a decorated function or class."""
    for attribute in ("__module__", "__qualname__", "__doc__"):
        attributes.setdefault(attribute, getattr(like, attribute, None))
    attributes["__qualname__"] = attributes["__qualname__"] or str(attributes["name"])
    name = str(attributes["__qualname__"]).rpartition(".")[2]
    # Not `type(name, ...)`: `new_class` determines the metaclass, ABCMeta or another.
    return new_class(name, bases, exec_body=lambda body: body.update(attributes))
