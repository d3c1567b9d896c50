"""Random networks compute the same on the whole way to machine code; `make fuzz` runs more."""

from __future__ import annotations

from random import Random

import pytest
from support.lowering import check_lowering, random_lowering
from support.machine import needs_native
from support.networks import random_network


@needs_native
@pytest.mark.parametrize("seed", range(4))
def test_networks_compute_the_same_as_machine_code(seed: int):
    check_lowering(random_network(seed, parts=3), random_lowering(Random(seed)))


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_gives_one_network(seed: int):
    one, other = (random_network(seed, parts=4) for _ in range(2))
    assert str(one.module) == str(other.module)
    assert one.tolerances == other.tolerances
