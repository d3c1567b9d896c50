"""Passes that visit one function on buffers at a time."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import TypeVar, Unpack, overload

from xdsl.dialects.builtin import ModuleOp

from ...dialects.tir.ops import PrimFuncOp
from ...passmanager.base import FunctionPass
from ...passmanager.context import PassContext
from ...passmanager.decorators import FunctionDecorator, FurtherMetadata, function_pass

C = TypeVar("C")

PrimFuncFunction = Callable[[PrimFuncOp, ModuleOp, PassContext], PrimFuncOp | None]


class PrimFuncPass(FunctionPass[PrimFuncOp], ABC):
    """A pass that visits one `tir.prim_func` at a time.

    As a FunctionPass it may not add, delete or rename functions.
    Source: `tvm.tir.transform.prim_func_pass`.
    """


@overload
def prim_func_pass(
    pass_func: type[C],
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **further: Unpack[FurtherMetadata],
) -> type[C]: ...
@overload
def prim_func_pass(
    pass_func: PrimFuncFunction,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **further: Unpack[FurtherMetadata],
) -> FunctionPass[PrimFuncOp]: ...
@overload
def prim_func_pass(
    pass_func: None = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **further: Unpack[FurtherMetadata],
) -> FunctionDecorator: ...
def prim_func_pass(
    pass_func: object = None,
    opt_level: int | None = None,
    name: str | None = None,
    required: Sequence[str] | None = None,
    **further: Unpack[FurtherMetadata],
) -> object:
    """Make a `PrimFuncPass` from a function `(func, module, ctx)`, or from a class.

    The class has a method `transform_function`. The other arguments are as for `function_pass`.
    """
    # One decorator for both kinds of functions, with another anchor; the overloads above tell type
    # checkers what comes of a function and of a class.
    return function_pass(pass_func, opt_level, name, required, PrimFuncOp, **further)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
