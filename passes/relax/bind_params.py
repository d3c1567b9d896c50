"""BindParams: make parameters of a function constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import BlockArgument
from xdsl.rewriter import InsertPoint, Rewriter

from ...compiler.interpreters.arguments import load_arrays
from ...compiler.interpreters.shape_bindings import Bindings
from ...compiler.interpreters.signature import argument_names
from ...dialects.relax.constant import ConstantOp
from ...dialects.relax.types import is_number, is_ranked, is_tensor
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.errors import PasslineError
from ...passmanager.ir.per_class import OpClasses
from ...passmanager.names import did_you_mean
from ..generic.call_graph import CallGraph
from .bind_shapes import bind_function, function_to_bind

if TYPE_CHECKING:
    from ...compiler.interpreters.arrays import Array
    from ...compiler.interpreters.dlpack import SupportsDLPack

__all__ = ["BindParams", "bind_params"]


def bind_params(
    module: ModuleOp,
    arrays: Mapping[str, Array | SupportsDLPack],
    function: str = "main",
    graph: CallGraph | None = None,
) -> None:
    """Replace the parameters of a function that have an array in `arrays`, by name, by constants.

    Arrays of other libraries are read by DLPack. Unknown dimensions get the sizes of the arrays,
    also those of other parameters with the same names. Errors, before anything is changed:
    DiagnosticException for a function that does not exist, has no body or is called in the module;
    PasslineError for an array that no parameter has the name, element type or shape of, or that
    cannot be read.
    """
    func = function_to_bind(module, function, graph)
    names = argument_names(func)
    bound: dict[str, Array] = {}
    for name, array in arrays.items():
        if name not in names:
            has = f": its parameters are {', '.join(names)}" if names else ": it has none"
            hint = did_you_mean(name, names) or has
            raise PasslineError(f"@{function} has no parameter '{name}'{hint}")
        bound[name] = _elements(name, func.args[names.index(name)], array)
    # Sizes first: the types of other parameters follow from those of the arrays.
    bind_function(func, Bindings({name: array.shape for name, array in bound.items()}, {}))
    for name, arg in reversed([*zip(names, func.args, strict=False)]):  # constants in this order
        if name in bound:
            _replace_by_constant(arg, bound[name])
    kept = [i for i, name in enumerate(names) if name not in bound]
    if func.arg_attrs is not None:
        left = [func.arg_attrs.data[i] for i in kept]
        func.arg_attrs = ArrayAttr(left) if any(each.data for each in left) else None
    func.update_function_type()


def _elements(name: str, arg: BlockArgument, given: Array | SupportsDLPack) -> Array:
    """Return an array as one of numpy; PasslineError unless the parameter is a tensor of its
    elements."""
    from ...compiler.interpreters.arrays import NarrowFloat, dtype_of, numbers_of
    from ...compiler.interpreters.dlpack import array_for, bits_of, dtype_text, holds

    type = arg.type
    if not is_tensor(type) or not is_number(type.element_type):
        raise PasslineError(f"parameter '{name}' is {type}, which no array can be")
    array = array_for(f"the array for parameter '{name}'", given)
    element = type.element_type
    if isinstance(element, NarrowFloat) and holds(array.dtype, element):
        return numbers_of(bits_of(array), element)
    if array.dtype != (dtype := dtype_of(element)):
        got = dtype_text(array.dtype)
        raise PasslineError(f"parameter '{name}' is {type}: expected {dtype}, got {got}")
    return array


def _replace_by_constant(arg: BlockArgument, array: Array) -> None:
    """Replace a parameter, whose type has the shape of `array`, by a constant."""
    from ...compiler.interpreters.arrays import dense_of, fit

    type, block = arg.type, arg.block
    assert is_ranked(type) and is_number(type.element_type)
    value = dense_of(fit(array, type.element_type), type)
    constant = ConstantOp.create(
        result_types=[type], properties={"value": value}, location=arg.location
    )
    constant.results[0].name_hint = arg.name_hint
    Rewriter.insert_op(constant, InsertPoint.at_start(block))
    arg.replace_all_uses_with(constant.results[0])
    block.erase_arg(arg)


@dataclass(frozen=True)
class BindParams(ModulePass):
    """Make parameters of a function constants: the weights of a model.

    A parameter that has an array in the file, by its name, is no parameter any more. Unknown
    dimensions get the sizes of the arrays, and so do dimensions of the same names elsewhere. In
    Python, `bind_params(module, {"w": array})` takes the arrays themselves.
    Source: `relax.BindParams`.

    Before:

        func.func @main(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
          %0 = relax.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %0 : tensor<2xf32>
        }

    After {params="weights.npz"}, a file with one array, `w`:

        func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
          %w = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
          %0 = relax.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          func.return %0 : tensor<2xf32>
        }
    """

    name = "bind-params"
    changes_interface = True

    params: str
    """The file of arrays by parameter name (.npz), as `numpy.savez` writes it."""
    function: str = "main"
    """The function, which no function of the module calls."""

    def load_code(self, module: ModuleOp, ops: OpClasses) -> None:
        import_module("...compiler.interpreters.arrays", __package__)

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        graph = ctx.analyses.get(CallGraph, module)
        bind_params(module, load_arrays(self.params), self.function, graph)
