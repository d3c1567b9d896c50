"""The tiles that the cost model chooses for products fit their sizes and the device."""

from __future__ import annotations

from math import ceil, prod

import pytest
from support.tables import table_test

from passline.compiler.kernels.gpu.tile_costs import ProductSpace, ProductTiles, parts_of
from passline.dialects.target import Target

BYTES = {"f16": 2, "f32": 4, "tf32": 4, "i8": 1, "f64": 8}


def chosen(batch: int, m: int, k: int, n: int, kind: str, target: Target) -> ProductTiles:
    space = ProductSpace(batch, m, n, k, kind, BYTES[kind], target)
    return min(space.candidates(), key=space.estimate)


SIZES = [
    (1, 1, 4096, 4096, "f16"),
    (1, 17, 33, 65, "f16"),
    (1, 17, 33, 65, "f32"),
    (1, 4096, 8, 4096, "f16"),
    (64, 128, 64, 128, "f16"),
    (1, 4096, 4096, 4096, "tf32"),
    (1, 1, 768, 50257, "f16"),
    (1, 64, 100000, 64, "f16"),
    (1, 1000, 2048, 32, "i8"),
    (12, 128, 128, 64, "f16"),
    (1, 3, 3, 1000000, "f32"),
    (1, 256, 256, 256, "f64"),
]


@pytest.mark.parametrize("name", ["sm_80", "sm_90", "sm_100"])
@table_test("batch, m, k, n, kind", SIZES)
def test_tiles_fit(batch: int, m: int, k: int, n: int, kind: str, name: str):
    target = Target(name)
    c = chosen(batch, m, k, n, kind, target)
    # Not far above the size, and as many blocks as multiprocessors where there are tiles for them.
    assert (
        c.m <= max(16, 2 * m) and c.n <= max(16, 64 // BYTES[kind], 2 * n) and c.k <= max(16, 2 * k)
    )
    blocks = batch * ceil(m / c.m) * ceil(n / c.n) * c.parts
    most = batch * ceil(m / 16) * ceil(n / 32) * ceil(k / 128)
    assert blocks >= min(target.cores, most) / 2


def test_blocks_share_the_terms_of_few_sums():
    target = Target("sm_90")
    assert chosen(1, 64, 100000, 64, "f16", target).parts == 32
    assert chosen(1, 4096, 4096, 4096, "f16", target).parts == 1
    assert chosen(1, 17, 33, 65, "f16", target).parts == 1


def test_without_tensor_cores_tiles_leave_registers():
    for kind in ("f32", "f64"):
        tiles = chosen(1, 4096, 4096, 4096, kind, Target("sm_90"))
        assert prod((tiles.m, tiles.n, BYTES[kind])) <= 1 << 16


SHARES = [
    (4883, 1, 1024, 256),
    (25, 1, 1024, 32),
    (5, 64, 1024, 4),
    (25, 132, 1024, 1),
    (3, 1, 8, 4),
]


@table_test("trips, rows, limit, parts", SHARES)
def test_blocks_share_long_rows(trips: int, rows: int, limit: int, parts: int):
    assert parts_of(trips, rows, limit, Target("sm_90")) == parts
