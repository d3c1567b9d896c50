"""Files with the kernels of a module, for programs that launch them by themselves."""

from __future__ import annotations

import json
from collections.abc import Mapping

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, UnitAttr
from xdsl.dialects.memref import GlobalOp
from xdsl.ir import Operation

from ...dialects.cuda_tile.bytecode.tile_writer import write_tile_bytecode
from ...dialects.cuda_tile.module_ops import ModuleOp as TileModuleOp
from ...dialects.target import Target
from ...passmanager.errors import PasslineError
from ..interpreters.signature import entry_function
from ..native.compiled import text_of
from .assemble import Resources, assemble, resources
from .debug_places import with_scopes
from .program import check_host_functions, entry_kinds

__all__ = ["MANIFEST_START", "kernel_files"]

MANIFEST_START = '{\n "format": "passline kernels"'
"""The start of the text of a manifest."""
LARGE = 1 << 10
"""The bytes of a constant above which a manifest lacks its elements."""


def kernel_files(module: ModuleOp, entry: str, target: Target, kind: str) -> tuple[bytes, str]:
    """Return the kernels of a lowered module as a `cubin` or as bytecode, `tileirbc`, and a
    manifest: JSON with the parameters of each kernel, what each takes of a multiprocessor, and the
    host functions, which say when each is launched, on which grid, and with which buffers. Of large
    constants they have no elements.

    PasslineError if the module has no kernels.
    """
    entry_function(module, entry)
    check_host_functions(module, entry)
    kernels = next((op for op in module.ops if isinstance(op, TileModuleOp)), None)
    if kernels is None:
        raise PasslineError(f"@{entry} has no kernels for {target}")
    code = (
        assemble(kernels, target) if kind == "cubin" else write_tile_bytecode(with_scopes(kernels))
    )
    taken: Mapping[str, Resources] = resources(code) if kind == "cubin" else {}
    host = ModuleOp([_small(op.clone()) for op in module.ops if op is not kernels])
    manifest = {
        "format": "passline kernels",
        "target": target.cpu,
        "function": entry,
        "entries": {name: list(kinds) for name, kinds in entry_kinds(kernels).items()},
        "resources": {name: vars(each) for name, each in taken.items()},
        "host": text_of(host),
    }
    return code, json.dumps(manifest, indent=1) + "\n"


def _small(op: Operation) -> Operation:
    """Return an operation, a large constant without its elements."""
    if isinstance(op, GlobalOp) and isinstance(value := op.initial_value, DenseIntOrFPElementsAttr):
        if len(value.data.data) > LARGE:
            op.properties["initial_value"] = UnitAttr()
    return op
