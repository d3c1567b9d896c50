"""Modules, entries, global variables; the grid of an entry, assumptions, and output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    AttrSizedOperandSegments,
    BaseAttr,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ...passmanager.ir.text.default_dialect import DefaultDialect
from ..signature import of_signature
from .assume_checks import check_predicate
from .attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
    SymbolVisibility,
    SymbolVisibilityAttr,
)
from .constraints import BOOL, SCALAR_I32, SCALAR_POINTER, TILE, check_types
from .control_ops import ReturnOp
from .folding import TileFolder
from .syntax import end_block, parse_parameters, print_parameters, types
from .tile_op import CudaTileOp, PureOp
from .types import PointerType, TileType, TokenType, scalar


@irdl_op_definition
class ModuleOp(CudaTileOp):
    """Define entries and global variables: the unit of bytecode."""

    name = "cuda_tile.module"

    sym_name = prop_def(SymbolNameConstraint())
    producer = opt_prop_def(StringAttr)
    body = region_def("single_block")

    traits = traits_def(
        SymbolOpInterface(), SymbolTable(), IsolatedFromAbove(), NoTerminator(), DefaultDialect()
    )

    def __init__(self, name: str, body: Region | None = None, *, producer: Attribute | None = None):
        """Without `body` the module gets an empty block."""
        super().__init__(
            regions=[Region(Block()) if body is None else body],
            sym_name=StringAttr(name),
            producer=producer,
        )

    @classmethod
    def parse(cls, parser: Parser) -> ModuleOp:
        name = parser.parse_symbol_name()
        given = parser.parse_optional_attr_dict_with_keyword()
        attributes = {} if given is None else dict(given.data)
        producer = attributes.pop("producer", None)
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        op = cls(name.data, body, producer=producer)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        producer = {} if self.producer is None else {"producer": self.producer}
        printer.print_op_attributes({**producer, **self.attributes}, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)


@irdl_op_definition
class EntryOp(CudaTileOp):
    """Define a kernel, which runs once for each tile block of a grid."""

    name = "cuda_tile.entry"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    body = region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), DefaultDialect())

    def __init__(
        self,
        name: str,
        arg_types: Sequence[Attribute],
        body: Region | None = None,
        optimization_hints: OptimizationHintsAttr | None = None,
    ):
        """Without `body` the entry gets a block with its parameters, and no operations."""
        super().__init__(
            regions=[Region(Block(arg_types=arg_types)) if body is None else body],
            sym_name=StringAttr(name),
            function_type=FunctionType.from_lists(arg_types, ()),
            optimization_hints=optimization_hints,
        )

    @classmethod
    def parse(cls, parser: Parser) -> EntryOp:
        name, parameters, hints = parser.parse_symbol_name(), parse_parameters(parser), None
        if parser.parse_optional_keyword("optimization_hints"):
            parser.parse_punctuation("=")
            hints = OptimizationHintsAttr.new(OptimizationHintsAttr.parse_parameters(parser))
        body = end_block(parser.parse_region(parameters), ReturnOp)
        op = cls(name.data, [parameter.type for parameter in parameters], body, hints)
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_parameters(printer, self.body.block)
        if self.optimization_hints is not None and self.optimization_hints.value.data:
            printer.print_string(" optimization_hints=")
            self.optimization_hints.print_parameters(printer)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)

    @of_signature
    def verify_(self) -> None:
        if self.function_type.outputs.data:
            raise VerifyException("an entry has no results")
        check_types("arguments", self.function_type.inputs.data, self.body.block.arg_types)
        for type in self.function_type.inputs:
            if isinstance(type, TileType) and type.shape.data:
                raise VerifyException(f"parameters are scalar tiles, got {type}")


@irdl_op_definition
class GlobalOp(CudaTileOp):
    """Define a variable in global memory with its first value."""

    name = "cuda_tile.global"

    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(DenseIntOrFPElementsAttr)
    alignment = prop_def(IntegerAttr[I64], default_value=IntegerAttr(0, i64))
    constant = opt_prop_def(UnitAttr)
    symbol_visibility = prop_def(
        SymbolVisibilityAttr, default_value=SymbolVisibilityAttr(SymbolVisibility.PUBLIC)
    )

    traits = traits_def(SymbolOpInterface())

    assembly_format = (
        "custom<OptionalKeyword>($symbol_visibility) (`constant` $constant^)? $sym_name "
        "(`alignment` `=` $alignment^)? attr-dict custom<DenseElementsOnly>($value)"
    )

    @of_signature
    def verify_(self) -> None:
        if len(self.value.get_shape()) != 1:
            raise VerifyException(
                f"expected a constant of one dimension, got {[*self.value.get_shape()]}"
            )


@irdl_op_definition
class GetGlobalOp(PureOp):
    """Take the pointer to a global variable."""

    name = "cuda_tile.get_global"

    global_name = prop_def(FlatSymbolRefAttr, prop_name="name")
    result = result_def(SCALAR_POINTER)

    assembly_format = "$name attr-dict " + types("result")

    def verify_(self) -> None:
        variable = SymbolTable.lookup_symbol(self, self.global_name)
        if not isinstance(variable, GlobalOp):
            raise VerifyException(f"{self.global_name} is no global variable")
        pointer = PointerType(variable.value.get_element_type())
        check_types("result", [scalar(pointer)], [self.result.type])


@irdl_op_definition
class GetTileBlockIdOp(PureOp):
    """Read the place of this tile block in the grid."""

    name = "cuda_tile.get_tile_block_id"

    RESULTS: ClassVar = (scalar(i32),) * 3

    blockId_x = result_def(SCALAR_I32)
    blockId_y = result_def(SCALAR_I32)
    blockId_z = result_def(SCALAR_I32)

    assembly_format = "attr-dict " + types("blockId_x")


@irdl_op_definition
class GetNumTileBlocksOp(PureOp):
    """Read the number of tile blocks in each dimension of the grid."""

    name = "cuda_tile.get_num_tile_blocks"

    RESULTS: ClassVar = (scalar(i32),) * 3

    gridSize_x = result_def(SCALAR_I32)
    gridSize_y = result_def(SCALAR_I32)
    gridSize_z = result_def(SCALAR_I32)

    assembly_format = "attr-dict " + types("gridSize_x")


@irdl_op_definition
class AssumeOp(CudaTileOp):
    """Return a value of which a predicate holds; the program is undefined if it does not."""

    name = "cuda_tile.assume"

    T: ClassVar = VarConstraint("T", AnyAttr())
    value = operand_def(T)
    predicate = prop_def(
        AnyOf((BaseAttr(DivByAttr), BaseAttr(SameElementsAttr), BaseAttr(BoundedAttr)))
    )
    result = result_def(T)

    # As in MLIR, it has no effects that are known: a pass that removes dead code keeps it.
    traits = traits_def(TileFolder())

    assembly_format = "custom<AssumedPredicate>($predicate) `,` $value attr-dict " + types("result")

    @of_signature
    def verify_(self) -> None:
        check_predicate(self.predicate, self.value.type)


@irdl_op_definition
class AssertOp(CudaTileOp):
    """Stop with a message unless all elements of the condition are true."""

    name = "cuda_tile.assert"

    condition = operand_def(BOOL)
    message = prop_def(StringAttr)

    assembly_format = "$condition `,` $message attr-dict " + types("condition")


@irdl_op_definition
class PrintTkoOp(CudaTileOp):
    """Print a format with the operands, after the operations of `token`."""

    name = "cuda_tile.print_tko"

    RESULTS: ClassVar = (TokenType(),)

    str = prop_def(StringAttr)
    args = var_operand_def(TILE)
    token = opt_operand_def(TokenType)
    result_token = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$str (`,` $args^)? (`token` `` `=` `` $token^)? attr-dict "
        "(`:` custom<Types>(type($args))^)? `->` custom<Types>(type($result_token))"
    )

    @of_signature
    def verify_(self) -> None:
        formats = re.findall(r"%[^diuoxXeEfFgGaAcsSpn%]*(.?)", self.str.data, re.DOTALL)
        if "" in formats:
            raise VerifyException(f"the format {self.str} ends within a '%...'")
        if (expected := len(formats) - formats.count("%")) != len(self.args):
            raise VerifyException(
                f"the format {self.str} has {expected} operands, got {len(self.args)}"
            )
