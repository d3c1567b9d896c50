"""A builder of modules with functions on tensors, one operation after the other.

    builder = BlockBuilder()
    with builder.function("main", x="tensor<4x8xf32>", w="tensor<8x2xf32>") as (x, w):
        product = builder.emit("relax.matmul", x, w)
        builder.emit_func_output(builder.emit("relax.nn.relu", product))
    module = builder.get()

Source: `tvm.relax.BlockBuilder`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache

from xdsl.builder import Builder
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint

from ...passmanager.errors import PasslineError
from ...passmanager.names import did_you_mean
from .attributes import PropertyValue

__all__ = ["BlockBuilder", "insert_with_operands"]


class BlockBuilder:
    """A builder that appends operations to the body of the function that is open."""

    def __init__(self) -> None:
        self._module = ModuleOp([])
        self._function: FuncOp | None = None
        self._builder: Builder | None = None

    @contextmanager
    def function(
        self, name: str, /, private: bool = False, **parameters: Attribute | str
    ) -> Generator[tuple[BlockArgument, ...]]:
        """Open the function `name` for the operations that are emitted; yield its parameters, which
        have the names and types `parameters`. A type may be text, such as `tensor<4x8xf32>`.

        Errors: PasslineError if a function is open already, if the module has one of this name, or
        if this one ends without `emit_func_output`; ParseError for text that is no type.
        """
        if self._function is not None:
            raise PasslineError(f"function @{self._function.sym_name.data} is not finished yet")
        if any(isinstance(op, FuncOp) and op.sym_name.data == name for op in self._module.ops):
            raise PasslineError(f"there is a function @{name} already")
        types = [_type(each) for each in parameters.values()]
        block = Block(arg_types=types)
        for argument, hint in zip(block.args, parameters, strict=True):
            argument.name_hint = hint
        func = FuncOp(name, (types, ()), Region(block), "private" if private else None)
        self._function, self._builder = func, Builder(InsertPoint.at_end(block))
        try:
            yield block.args
            if not isinstance(block.last_op, ReturnOp):
                raise PasslineError(f"function @{name} has no output: call emit_func_output")
            self._module.body.block.add_op(func)
        finally:
            self._function = self._builder = None

    def emit(
        self,
        op: Operation | str,
        *operands: SSAValue,
        name: str | None = None,
        **properties: PropertyValue,
    ) -> SSAValue:
        """Append an operation, and return its only result, with the name hint `name`.

        The operation is given, or else the name of an operation of `relax` with operands and
        properties: `emit("relax.concatenate", x, y, axis=1)`. Errors: PasslineError for an unknown
        name or another number of results, for which there is `emit_all`.
        """
        results = self.emit_all(op, *operands, **properties)
        if len(results) != 1:
            what = op if isinstance(op, str) else op.name
            raise PasslineError(f"'{what}' has {len(results)} results: call emit_all")
        if name is not None:
            results[0].name_hint = name
        return results[0]

    def emit_all(
        self, op: Operation | str, *operands: SSAValue, **properties: PropertyValue
    ) -> tuple[SSAValue, ...]:
        """Append an operation, as `emit` does, and return all its results."""
        if isinstance(op, str):
            op = _class_of(op)(*operands, **properties)
        insert_with_operands(op, self._open().insert)
        return tuple(op.results)

    def emit_func_output(self, *values: SSAValue) -> None:
        """End the open function, which returns `values`."""
        self._open().insert(ReturnOp(*values))
        assert self._function is not None
        self._function.update_function_type()

    def get(self) -> ModuleOp:
        """Return the module with all functions that are finished, verified.

        Errors: VerifyException for an operation that is invalid.
        """
        self._module.verify()
        return self._module

    def _open(self) -> Builder:
        if self._builder is None or self._function is None:
            raise PasslineError("no function is open: write `with builder.function(...)`")
        if isinstance(self._function.body.block.last_op, ReturnOp):
            raise PasslineError(f"function @{self._function.sym_name.data} has its output already")
        return self._builder


def insert_with_operands(op: Operation, insert: Callable[[Operation], object]) -> None:
    """Insert an operation after those that compute its operands and are in no block yet."""
    pending = [(op, _detached_owners(op))]
    while pending:
        each, owners = pending[-1]
        owner = next((found for found in owners if found.parent is None), None)
        if owner is None:
            pending.pop()
            if each.parent is None:
                insert(each)
        else:
            pending.append((owner, _detached_owners(owner)))


def _detached_owners(op: Operation) -> Iterator[Operation]:
    """Yield the operations in no block whose results `op` uses."""
    for value in op.operands:
        if isinstance(owner := value.owner, Operation) and owner.parent is None:
            yield owner


@cache
def _classes() -> dict[str, type[Operation]]:
    from . import Relax  # which imports all families of operations

    return {cls.name: cls for cls in Relax.operations}


def _class_of(name: str) -> Callable[..., Operation]:
    classes = _classes()
    if (cls := classes.get(name) or classes.get(f"relax.{name}")) is None:
        raise PasslineError(f"there is no operation '{name}'{did_you_mean(name, classes)}")
    return cls


def _type(given: Attribute | str) -> Attribute:
    if isinstance(given, Attribute):
        return given
    from ...passmanager.registry import make_ir_context

    return Parser(make_ir_context(), given).parse_type()
