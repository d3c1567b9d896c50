"""Cases: a random module with calls of its functions, and a random pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from strategies.modules import loop_nests, networks
from strategies.pipelines import buffer_pipelines, lowerings, mixed_pipelines, tensor_pipelines
from support.loops import Arguments, LoopNests
from support.networks import Network
from support.networks.choices import MAX_ELEMENTS
from support.operations.evaluation import Array
from support.operations.special_values import special_numbers
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute

from passline.compiler.interpreters.signature import entry_function
from passline.dialects.relax.types import is_number, is_tensor

__all__ = ["Case", "case_of_network", "cases", "native_cases"]


@dataclass(frozen=True)
class Case:
    """A module, arguments for its functions, and a pipeline."""

    module: ModuleOp
    calls: Mapping[str, Sequence[Arguments]]
    """Function name -> the arguments of each call."""
    pipeline: Sequence[str]
    reads_back_after: int
    """The index of the pass after which the module is printed and parsed."""
    native: bool
    """Whether the module is compiled at the end."""
    large: bool = False
    """Whether tensors may be so large that kernels are not computed on numpy."""
    network: Network | None = None
    """The network of a module on tensors: the results of the first call, with tolerances."""

    def __repr__(self) -> str:  # hypothesis prints it; `Search` saves the module
        return f"-p '{','.join(self.pipeline)}'"


def case_of_network(
    network: Network, pipeline: Sequence[str], place: int, native: bool, large: bool = False
) -> Case:
    """Return a case with the arguments of the network, and with special values in their place."""
    types = entry_function(network.module, "main").function_type.inputs
    pairs = zip(types, network.arguments, strict=True)
    special = tuple(special_argument(type, array) for type, array in pairs)
    calls = {"main": [network.arguments, special]}
    return Case(network.module, calls, pipeline, place, native, large, network)


def special_argument(type: Attribute, array: Array) -> Array:
    """Return an argument of the same shape with NaN, infinities, denormals, extreme integers."""
    if isinstance(type, IndexType):
        return array  # the number of iterations of a loop
    element = type.element_type if is_tensor(type) else type
    assert is_number(element)
    return special_numbers(element, array.shape, np.random.default_rng(array.size))


def case_of_loops(loops: LoopNests, pipeline: Sequence[str], place: int, native: bool) -> Case:
    return Case(loops.module, loops.calls, pipeline, place, native)


def cases(*, small: bool = False) -> st.SearchStrategy[Case]:
    """Strategy for cases on numpy.

    `small` cases have short functions and pipelines, and take a third of the time.
    """
    return _cases(small, st.just(False))


def native_cases() -> st.SearchStrategy[Case]:
    """Strategy for cases that are compiled to machine code at the end."""
    lowered = st.builds(case_of_network, LARGE, lowerings(), PLACE, st.just(True), st.just(True))
    return st.one_of(lowered, _cases(False, st.just(True)))


PLACE = st.integers(0, 60)
"""Most pipelines are shorter: reading back takes as long as all else."""
LARGE = networks(parts=4, steps=6, structures=False, dynamic=False, max_elements=MAX_ELEMENTS)


def _cases(small: bool, native: st.SearchStrategy[bool]) -> st.SearchStrategy[Case]:
    most = 3 if small else 6
    tensors = networks(parts=1, steps=3, max_elements=8) if small else networks()
    loops = loop_nests(functions=1 if small else 2)
    mixed = mixed_pipelines(2 * most)
    return st.one_of(
        st.builds(case_of_network, tensors, tensor_pipelines(most), PLACE, native),
        st.builds(case_of_loops, loops, buffer_pipelines(most), PLACE, native),
        st.builds(case_of_network, tensors, mixed, PLACE, native),
        st.builds(case_of_loops, loops, mixed, PLACE, native),
    )
