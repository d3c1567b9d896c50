"""Debug information of CUDA Tile IR: the scopes of a place in a source file.

A location in a scope is MLIR's fused location: `loc(fused<#scope>["matmul.py":3:4])`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition


@irdl_attr_definition
class DIFileAttr(ParametrizedAttribute):
    """A source file."""

    name = "cuda_tile.di_file"

    file_name: StringAttr
    directory: StringAttr


@irdl_attr_definition
class DICompileUnitAttr(ParametrizedAttribute):
    """What is compiled at once."""

    name = "cuda_tile.di_compile_unit"

    file: DIFileAttr


@irdl_attr_definition
class DISubprogramAttr(ParametrizedAttribute):
    """A function in a source file."""

    name = "cuda_tile.di_subprogram"

    file: DIFileAttr
    line: IntAttr
    function: StringAttr
    linkage_name: StringAttr
    compile_unit: DICompileUnitAttr
    scope_line: IntAttr


@irdl_attr_definition
class DILexicalBlockAttr(ParametrizedAttribute):
    """A block of a function in a source file."""

    name = "cuda_tile.di_lexical_block"

    scope: Attribute
    file: DIFileAttr
    line: IntAttr
    column: IntAttr
