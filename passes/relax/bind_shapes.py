"""BindShapes: give unknown dimensions of parameters their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import DiagnosticException

from ...compiler.interpreters.shape_bindings import (
    Bindings,
    Dimension,
    bind_shapes,
    bound_dimension,
    read_bindings,
)
from ...compiler.interpreters.signature import argument_names
from ...dialects.relax.types import Tensor, is_tensor, shape_of, with_shape
from ...dialects.signature import dimension_names_in, rename_dimensions, with_dimension_names
from ...dialects.sizes import Size
from ...passmanager.base import ModulePass
from ...passmanager.context import PassContext
from ...passmanager.ir.walk import walk
from ...passmanager.names import did_you_mean
from ..generic.call_graph import CallGraph
from ..sizes import cast_for_users


def bind_function(func: FuncOp, bindings: Bindings) -> None:
    """Give the parameters of `func`, which has a body, the types that follow from `bindings`.

    Users that need the declared types get a cast. Raises ShapeBindingError for bindings that do not
    fit.
    """
    attributes = list(func.arg_attrs or [DictionaryAttr({})] * len(func.args))
    parameters = {
        name: (arg, _dimensions(arg.type, attrs))
        for name, arg, attrs in zip(argument_names(func), func.args, attributes, strict=True)
        if is_tensor(arg.type)
    }
    declared = {name: dimensions for name, (_, dimensions) in parameters.items()}
    said = {
        name: dimension_names_in(attributes[arg.index], len(dimensions or ()))
        for name, (arg, dimensions) in parameters.items()
    }
    # All at once, so that a name that two parameters share gets one size, or a contradiction is
    # found.
    bound = bind_shapes(declared, bindings, said)
    retyped: dict[SSAValue, Attribute] = {}
    for name, (arg, _) in parameters.items():
        if (dimensions := bound.dimensions[name]) is None:
            continue
        old, new = arg.type, _type(arg.type, dimensions)
        if new != old:
            retyped[Rewriter.replace_value_with_new_type(arg, new)] = old
        # A size of `m * n` is a fact about both, which the next choice has to agree with.
        names = said[name] or (None,) * len(dimensions)
        left = [_name(bound_dimension(each, bound.sizes)) for each in names]
        attributes[arg.index] = with_dimension_names(attributes[arg.index], left)
    func.arg_attrs = _unless_empty(attributes)
    if func.res_attrs is not None:
        pairs = zip(func.res_attrs, func.function_type.outputs)
        func.res_attrs = _unless_empty([_without(a, type, bound.sizes) for a, type in pairs])
    # Names in the function are those of its parameters: those that have a size now go.
    for op in walk(func):
        rename_dimensions(op, lambda name: _name(bound_dimension(name, bound.sizes)))
    # No inference here: users get the old types until `infer-type` runs.
    cast_for_users(retyped)
    func.update_function_type()


def bind_module(
    module: ModuleOp, function: str, bindings: Bindings, graph: CallGraph | None = None
) -> None:
    """Give the parameters of a function of `module` the types that follow from `bindings`.

    Errors: DiagnosticException for a function that does not exist, has no body or is called in the
    module; ShapeBindingError for bindings that do not fit.
    """
    bind_function(function_to_bind(module, function, graph), bindings)


def function_to_bind(module: ModuleOp, name: str, graph: CallGraph | None = None) -> FuncOp:
    """Return the function `name`, whose parameters may get other types.

    DiagnosticException for a function that does not exist, has no body or is called in the module.
    """
    graph = graph or CallGraph(module)
    functions = {name: f for name, f in graph.symbols.items() if isinstance(f, FuncOp)}
    if (func := functions.get(name)) is None or func.is_declaration:
        what = "has no body" if func else f"does not exist{did_you_mean(name, functions)}"
        raise DiagnosticException(f"function @{name} {what}")
    if graph.callers(func):
        raise DiagnosticException(f"function @{name} is called in the module")
    return func


def _unless_empty(attributes: Sequence[DictionaryAttr]) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of parameters or results; None if there are none at all."""
    return ArrayAttr(attributes) if any(each.data for each in attributes) else None


def _dimensions(type: Attribute, attributes: DictionaryAttr) -> tuple[Dimension, ...] | None:
    """Return the dimensions of a parameter of this type; None for an unknown rank."""
    if not is_tensor(type) or (shape := shape_of(type)) is None:
        return None
    names = dimension_names_in(attributes, len(shape))
    return tuple(
        name if size == DYNAMIC_INDEX else size for size, name in zip(shape, names, strict=True)
    )


def _type(type: Attribute, dimensions: tuple[Dimension, ...]) -> Tensor:
    assert is_tensor(type)
    return with_shape(type, tuple(d if isinstance(d, int) else DYNAMIC_INDEX for d in dimensions))


def _without(
    attributes: DictionaryAttr, type: Attribute, sizes: Mapping[str, int | Size]
) -> DictionaryAttr:
    """Return the attributes of a result with the names that are left after the choice of sizes."""
    names = dimension_names_in(attributes, len(shape_of(type) or ()) if is_tensor(type) else 0)
    bound = [_name(bound_dimension(name, sizes)) for name in names]
    return with_dimension_names(attributes, bound)


def _name(dimension: Dimension) -> str | None:
    return dimension if isinstance(dimension, str) else None


@dataclass(frozen=True)
class BindShapes(ModulePass):
    """Give unknown dimensions of the parameters of a function sizes.

    A size that a shape gives to a named dimension holds for all dimensions of that name, and in
    expressions: `h=8`, or 16 for a dimension `2 * h`, binds `h // 2` to 4.
    Source: `relax.BindSymbolicVars`.

    Before:

        func.func @main(%x: tensor<?x3xf32> {onnx.dims = ["batch", unit]}) -> tensor<?x3xf32> {
          %0 = relax.nn.relu %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
          func.return %0 : tensor<?x3xf32>
        }

    After {dims=batch=4}:

        func.func @main(%x: tensor<4x3xf32> {}) -> tensor<?x3xf32> {
          %0 = relax.nn.relu %x : (tensor<4x3xf32>) -> tensor<?x3xf32>
          func.return %0 : tensor<?x3xf32>
        }
    """

    name = "bind-shapes"
    before = ("import",)
    changes_interface = True

    shapes: tuple[str, ...] = ()
    """Shapes of parameters: `x=1x3x?x192`, where `?` stays unknown."""
    dims: tuple[str, ...] = ()
    """Sizes of named dimensions, or expressions for them: `batch=4`, `m=2 * k`."""
    function: str = "main"
    """The function, which no function of the module calls."""

    def transform_module(self, module: ModuleOp, ctx: PassContext) -> None:
        bindings = read_bindings(self.shapes, self.dims)
        bind_module(module, self.function, bindings, ctx.analyses.get(CallGraph, module))
