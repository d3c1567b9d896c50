"""FlattenBuffer: random views of views, counters and remarks."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
import pytest
from support.budget import some
from support.parsing import parsed
from support.passes.results import check_equal, run
from support.suites.inprocess import passline_opt

from passline.passes.tir.flatten_buffer import FlattenBuffer
from passline.passmanager import PassContext
from passline.passmanager.instruments import StatisticsInstrument


class Views:
    """A random function that reads all elements of a chain of views.

    The first view is of a parameter, or of a copy of it.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.shape = [self.random.randrange(1, 5) for _ in range(self.random.randrange(2, 5))]
        self.strides = [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        self.offset = 0
        self.plain = True
        """True if the view has no layout."""
        self.buffer = "%x"
        self.source = self.type
        if self.random.random() < 0.6:
            self.lines.append(f"%a = memref.alloc() : {self.type}")
            self.lines.append(f'"memref.copy"(%x, %a) : ({self.type}, {self.type}) -> ()')
            self.buffer = "%a"
        for number in range(self.random.randrange(1, 4)):
            kinds = [self.subview, self.subview, self.reinterpret]
            if self.plain and len(self.shape) > 1:
                kinds += [self.collapse, self.expand]
            self.random.choice(kinds)(f"%v{number}")
        self.read()

    @property
    def type(self) -> str:
        """The type of the last view."""
        layout = "" if self.plain else f", strided<{self.strides}, offset: {self.offset}>"
        if not self.offset and not self.plain:
            layout = f", strided<{self.strides}>"
        return f"memref<{''.join(f'{n}x' for n in self.shape)}f32{layout}>"

    @property
    def text(self) -> str:
        """The module."""
        body = "\n".join(self.lines)
        return f"tir.prim_func @f(%x: {self.source}, %y: memref<256xf32>) {{\n{body}\n}}"

    def add(self, name: str, operation: str) -> None:
        self.lines.append(operation.replace("$", f"{name} = ", 1).replace("TO", self.type))
        self.buffer = name

    def subview(self, name: str) -> None:
        old, source = self.type, list(self.shape)
        steps = [self.random.choice([1, 1, 2]) for _ in source]
        starts = [self.random.randrange(n) for n in source]
        sizes = [
            self.random.randrange(1, (n - start - 1) // step + 2)
            for n, start, step in zip(source, starts, steps, strict=True)
        ]
        self.offset += sum(a * b for a, b in zip(starts, self.strides, strict=True))
        strides = [a * b for a, b in zip(steps, self.strides, strict=True)]
        kept = [n > 1 or self.random.random() < 0.5 for n in sizes]
        self.shape = [n for n, keep in zip(sizes, kept, strict=True) if keep]
        self.strides = [n for n, keep in zip(strides, kept, strict=True) if keep]
        self.plain = False
        text = f"$memref.subview {self.buffer}{starts} {sizes} {steps} : {old} to TO"
        self.add(name, text)

    def reinterpret(self, name: str) -> None:
        old = self.type
        self.plain = False
        text = f"$memref.reinterpret_cast {self.buffer} to offset: [{self.offset}], "
        self.add(name, f"{text}sizes: {self.shape}, strides: {self.strides} : {old} to TO")

    def collapse(self, name: str) -> None:
        old, rank = self.type, len(self.shape)
        at = self.random.randrange(rank - 1)
        groups = [[axis] for axis in range(rank)]
        groups[at : at + 2] = [[at, at + 1]]
        self.shape[at : at + 2] = [self.shape[at] * self.shape[at + 1]]
        del self.strides[at]
        self.add(name, f"$memref.collapse_shape {self.buffer} {groups} : {old} into TO")

    def expand(self, name: str) -> None:
        old, rank = self.type, len(self.shape)
        at = self.random.randrange(rank)
        groups = [[axis + (axis > at)] for axis in range(rank)]
        groups[at] = [at, at + 1]
        size = self.shape[at]
        inner = self.random.choice([n for n in range(1, size + 1) if size % n == 0])
        self.shape[at : at + 1] = [size // inner, inner]
        self.strides[at : at + 1] = [self.strides[at] * inner, self.strides[at]]
        text = f"$memref.expand_shape {self.buffer} {groups} output_shape {self.shape} : {old}"
        self.add(name, f"{text} into TO")

    def read(self) -> None:
        sizes = sorted({0, 1, *self.shape})
        self.lines += [f"%c{n} = arith.constant {n} : index" for n in sizes]
        index = "%c0"
        for axis, size in enumerate(self.shape):
            self.lines.append(f"tir.for %i{axis} = %c0 extent %c{size} {{")
            self.lines.append(f"%m{axis} = arith.muli {index}, %c{size} : index")
            self.lines.append(f"%n{axis} = arith.addi %m{axis}, %i{axis} : index")
            index = f"%n{axis}"
        indices = ", ".join(f"%i{axis}" for axis in range(len(self.shape)))
        self.lines.append(f"%e = memref.load {self.buffer}[{indices}] : {self.type}")
        self.lines.append(f"memref.store %e, %y[{index}] : memref<256xf32>")
        self.lines += ["}"] * len(self.shape)


@pytest.mark.parametrize("seed", some(range(60), 4))
def test_views_of_views(seed: int) -> None:
    views = Views(seed)
    before = parsed(views.text)
    after = FlattenBuffer()(before)
    shape = [int(n) for n in views.source.removeprefix("memref<").split("x")[:-1]]
    x, y = np.arange(prod(shape), dtype=np.float32).reshape(shape), np.zeros(256, np.float32)
    check_equal(run(after, "f", (x, y)), run(before, "f", (x, y)))
    assert f"memref.load {views.buffer}[" not in str(after) or len(views.shape) < 2


def test_counters_and_remarks() -> None:
    text = """
    tir.prim_func @f(%a: memref<4x4xf32>, %b: memref<4x4xf32, strided<[?, 1]>>) {
      %c0 = arith.constant 0 : index
      %0 = memref.load %a[%c0, %c0] : memref<4x4xf32>
      memref.store %0, %b[%c0, %c0] : memref<4x4xf32, strided<[?, 1]>>
    }"""
    statistics = StatisticsInstrument()
    with PassContext(instruments=[statistics]):
        FlattenBuffer()(parsed(text))
    counters = statistics.as_dict()["tir-flatten-buffer"]["counters"]
    assert counters == {"flattened": 1, "accesses": 1}
    result = passline_opt("-p", "tir-flatten-buffer", "--remarks", stdin=text)
    assert "left as they are: its strides and its offset are not all known" in result.stderr
