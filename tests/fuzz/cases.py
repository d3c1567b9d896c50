"""Cases: a random module with calls of its functions, and a random pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from strategies.modules import loop_nests, networks
from strategies.pipelines import (
    buffer_pipelines,
    lowerings,
    mixed_pipelines,
    tensor_pipelines,
    tile_lowerings,
)
from support.loops import Arguments, LoopNests
from support.networks import Network
from support.networks.choices import MAX_ELEMENTS
from support.operations.evaluation import Array
from support.operations.special_values import special_numbers
from xdsl.builder import Builder
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute
from xdsl.rewriter import InsertPoint

from passline.compiler.execution import Engine
from passline.compiler.interpreters.signature import entry_function
from passline.dialects.relax.types import is_number, is_tensor
from passline.dialects.tir.ops import CallOp, PrimFuncOp, YieldOp

__all__ = ["Case", "case_of_network", "cases", "native_cases", "tile_cases"]


@dataclass(frozen=True)
class Case:
    """A module, arguments for its functions, and a pipeline."""

    module: ModuleOp
    calls: Mapping[str, Sequence[Arguments]]
    """Function name -> the arguments of each call."""
    pipeline: Sequence[str]
    reads_back_after: int
    """The index of the pass after which the module is printed and parsed."""
    engine: Engine
    """What the module is compiled for at the end, if it is not numpy."""
    large: bool = False
    """Whether tensors may be so large that kernels are not computed on numpy."""
    network: Network | None = None
    """The network of a module on tensors: the results of the first call, with tolerances."""

    def __repr__(self) -> str:  # hypothesis prints it; `Search` saves the module
        return f"-p '{','.join(self.pipeline)}'"


def case_of_network(
    network: Network, pipeline: Sequence[str], place: int, engine: Engine, large: bool = False
) -> Case:
    """Return a case with the arguments of the network, and with special values in their place."""
    types = entry_function(network.module, "main").function_type.inputs
    pairs = zip(types, network.arguments, strict=True)
    special = tuple(special_argument(type, array) for type, array in pairs)
    calls = {"main": [network.arguments, special]}
    return Case(network.module, calls, pipeline, place, engine, large, network)


def special_argument(type: Attribute, array: Array) -> Array:
    """Return an argument of the same shape with NaN, infinities, denormals, extreme integers."""
    if isinstance(type, IndexType):
        return array  # the number of iterations of a loop
    element = type.element_type if is_tensor(type) else type
    assert is_number(element)
    return special_numbers(element, array.shape, np.random.default_rng(array.size))


def case_of_loops(loops: LoopNests, pipeline: Sequence[str], place: int, engine: Engine) -> Case:
    return Case(loops.module, loops.calls, pipeline, place, engine)


def case_of_kernels(loops: LoopNests, pipeline: Sequence[str], place: int) -> Case:
    """Return a case in which other functions call those of `loops`, which are kernels then."""
    module = loops.module.clone()
    calls = dict(loops.calls)
    for func in [op for op in module.ops if isinstance(op, PrimFuncOp)]:
        name = func.sym_name.data
        if name in loops.calls:
            caller = PrimFuncOp(f"call_{name}", func.function_type.inputs.data)
            builder = Builder(InsertPoint.at_end(caller.body.block))
            builder.insert(CallOp(name, caller.args))
            builder.insert(YieldOp())
            module.body.block.add_op(caller)
            calls[f"call_{name}"] = loops.calls[name]
    return Case(module, calls, pipeline, place, "numpy")


def cases(*, small: bool = False) -> st.SearchStrategy[Case]:
    """Strategy for cases on numpy.

    `small` cases have short functions and pipelines, and take a third of the time.
    """
    return _cases(small, NUMPY)


def native_cases() -> st.SearchStrategy[Case]:
    """Strategy for cases that are compiled to machine code at the end."""
    lowered = st.builds(case_of_network, LARGE, lowerings(), PLACE, NATIVE, st.just(True))
    return st.one_of(lowered, _cases(False, NATIVE))


def tile_cases() -> st.SearchStrategy[Case]:
    """Strategy for cases of tile programs: functions on tensors are compiled for the simulated
    device at the end; all launches run with a check of races."""
    tensors, loops = (tile_lowerings(buffers=buffers) for buffers in (False, True))
    return st.one_of(
        st.builds(case_of_network, networks(), tensors, PLACE, TILES),
        st.builds(case_of_kernels, loop_nests(), loops, PLACE),
    )


NUMPY: st.SearchStrategy[Engine] = st.just("numpy")
NATIVE: st.SearchStrategy[Engine] = st.just("native")
TILES: st.SearchStrategy[Engine] = st.just("cuda-interpreter")
PLACE = st.integers(0, 60)
"""Most pipelines are shorter: reading back takes as long as all else."""
LARGE = networks(parts=4, steps=6, structures=False, dynamic=False, max_elements=MAX_ELEMENTS)


def _cases(small: bool, engine: st.SearchStrategy[Engine]) -> st.SearchStrategy[Case]:
    most = 3 if small else 6
    tensors = networks(parts=1, steps=3, max_elements=8) if small else networks()
    loops = loop_nests(functions=1 if small else 2)
    mixed = mixed_pipelines(2 * most)
    return st.one_of(
        st.builds(case_of_network, tensors, tensor_pipelines(most), PLACE, engine),
        st.builds(case_of_loops, loops, buffer_pipelines(most), PLACE, engine),
        st.builds(case_of_network, tensors, mixed, PLACE, engine),
        st.builds(case_of_loops, loops, mixed, PLACE, engine),
    )
