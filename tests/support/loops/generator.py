"""Modules of random functions on buffers, with arguments for each function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import numpy as np
from support.operations.evaluation import Array
from support.operations.special_values import special_numbers
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute

from passline.compiler.interpreters.arrays import fit, is_bool
from passline.compiler.interpreters.signature import Function, is_buffer
from passline.dialects.relax.types import is_number
from passline.passmanager.ir.text.parser import parse_module
from passline.passmanager.registry import make_ir_context
from passline.passmanager.releases.floats import PACKS_BF16

from ..networks.choices import Choices
from .accesses import Accesses
from .buffers import Buffers
from .guards import GuardedLoops
from .indices import Indices
from .vectors import VectorLoops
from .writer import Writer

__all__ = ["Arguments", "LoopNests", "random_loops"]

Arguments: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True)
class Family:
    """A kind of functions: how one is written, and the range of its indices."""

    write: Callable[[Choices, str], Writer]
    indices: Sequence[int]


BF16 = "bf16" if PACKS_BF16 else "f16"


def accesses(choices: Choices, name: str) -> Writer:
    element = choices.choice(["f32", "f32", "f16", BF16, "f64", "i8", "i16", "i32", "i64"])
    return Accesses(choices, name, element)


def vector_loops(choices: Choices, name: str) -> Writer:
    return VectorLoops(choices, name, choices.choice(["vectorized", "unrolled", "parallel", ""]))


FAMILIES: Mapping[str, Family] = {
    "accesses": Family(accesses, (1, 2, 3)),
    "buffers": Family(Buffers, (2, 5, 1, 0)),
    "guards": Family(GuardedLoops, (5, 2, -2, 0, 9)),
    "indices": Family(Indices, (3, -6, 0, 8, 19)),
    "vectors": Family(vector_loops, (2, 0, 5)),
}


@dataclass(frozen=True)
class LoopNests:
    """A module of functions on buffers, with arguments: function name -> calls."""

    module: ModuleOp
    calls: Mapping[str, Sequence[Arguments]]


def random_loops(source: Random, functions: int = 1, calls: int = 2) -> LoopNests:
    """Return a module with functions of random families, each with arguments for some calls."""
    choices = Choices(source)
    names = ["main", *(f"f{i}" for i in range(1, functions))]
    drawn = {name: FAMILIES[choices.choice([*FAMILIES])] for name in names}
    text = "".join(family.write(choices, name).text for name, family in drawn.items())
    module = parse_module(make_ir_context(), text, "random.mlir")
    rng = np.random.default_rng(choices.getrandbits(32))
    return LoopNests(
        module,
        {
            func.sym_name.data: [
                random_arguments(func, drawn[func.sym_name.data].indices, rng, special=n == 1)
                for n in range(calls)
            ]
            for func in module.ops
            if isinstance(func, Function) and func.sym_name.data in drawn
        },
    )


def random_arguments(
    func: Function, indices: Sequence[int], rng: np.random.Generator, *, special: bool
) -> Arguments:
    """Return random arguments for `func`, or special ones."""
    arguments: list[Array] = []
    for type in func.function_type.inputs:
        shape = type.get_shape() if is_buffer(type) else ()
        element: Attribute = type.element_type if is_buffer(type) else type
        if isinstance(element, IndexType):
            arguments.append(np.array(rng.choice([*indices])))
            continue
        assert is_number(element)
        if special or is_bool(element):
            arguments.append(special_numbers(element, shape, rng))
        else:
            arguments.append(fit(np.asarray(rng.integers(-4, 5, shape)), element))
    return tuple(arguments)
