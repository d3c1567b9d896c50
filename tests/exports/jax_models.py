# pyright: basic, reportMissingImports=false
"""Export JAX functions and networks of Flax and Equinox with random weights to ONNX.

    python jax_models.py FOLDER [NAME...]

Needs jax, flax, equinox and jax2onnx, and runs in an environment that has no other part of this
project.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import onnx
from exporting import STORED, export_all
from flax import nnx
from jax import lax
from jax2onnx import to_onnx

Shape = tuple[int | str, ...]

SIZES = {"B": 3}
"""The dimensions that are unknown in a model, and their sizes in the inputs."""
BELOW = 10
"""Inputs that are integers are less than this."""


@dataclass(frozen=True)
class Export:
    """A function of arrays, by what makes it, and the shapes of its arguments."""

    make: Callable[[], Callable[..., Any]]
    shapes: tuple[Shape, ...]
    integers: tuple[int, ...] = ()
    """The inputs that are integers, by number."""
    store: bool = False
    """Whether JAX's result is stored beside the inputs, as onnxruntime does not run the model."""


EXPORTS: dict[str, Export] = {}


def function(name: str, call: Callable[..., Any], *shapes: Shape, **more: Any) -> None:
    EXPORTS[name] = Export(lambda: call, shapes, **more)


def network(make: type[nnx.Module], *shapes: Shape, **more: Any) -> None:
    EXPORTS[make.__name__.lower()] = Export(lambda: make(nnx.Rngs(0)), shapes, **more)


class MLP(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(20, 32, rngs=rngs)
        self.norm = nnx.BatchNorm(32, use_running_average=True, rngs=rngs)
        self.second = nnx.Linear(32, 5, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return jax.nn.log_softmax(self.second(nnx.gelu(self.norm(self.first(x)))))


class CNN(nnx.Module):
    """Convolutions with channels last, as Flax has them."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first = nnx.Conv(3, 16, (3, 3), strides=2, rngs=rngs)
        self.depthwise = nnx.Conv(16, 16, (3, 3), feature_group_count=16, rngs=rngs)
        self.norm = nnx.GroupNorm(16, num_groups=4, rngs=rngs)
        self.last = nnx.Linear(16, 5, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = nnx.max_pool(nnx.silu(self.first(x)), window_shape=(2, 2), strides=(2, 2))
        x = nnx.avg_pool(
            nnx.relu(self.norm(self.depthwise(x))), window_shape=(2, 2), strides=(2, 2)
        )
        return self.last(x.mean((1, 2)))


class Residual(nnx.Module):
    """A block of a ResNet, with channels last."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.convs = nnx.List([nnx.Conv(8, 8, (3, 3), use_bias=False, rngs=rngs) for _ in "ab"])
        self.norms = nnx.List([nnx.BatchNorm(8, use_running_average=True, rngs=rngs) for _ in "ab"])

    def __call__(self, x: jax.Array) -> jax.Array:
        y = x
        for conv, norm in zip(self.convs, self.norms, strict=True):
            y = nnx.relu(norm(conv(y)))
        return x + y


class Transformer(nnx.Module):
    """Blocks of attention on tokens, each with a norm before."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed = nnx.Embed(100, 32, rngs=rngs)
        self.norms = nnx.List([nnx.LayerNorm(32, rngs=rngs) for _ in range(4)])
        self.attend = nnx.List(
            [nnx.MultiHeadAttention(4, 32, decode=False, rngs=rngs) for _ in range(2)]
        )
        self.up = nnx.List([nnx.Linear(32, 64, rngs=rngs) for _ in range(2)])
        self.down = nnx.List([nnx.Linear(64, 32, rngs=rngs) for _ in range(2)])

    def __call__(self, tokens: jax.Array) -> jax.Array:
        x = self.embed(tokens)
        for i in range(2):
            x = x + self.attend[i](self.norms[2 * i](x))
            x = x + self.down[i](nnx.gelu(self.up[i](self.norms[2 * i + 1](x))))
        return self.embed.attend(x)


class RMS(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm = nnx.RMSNorm(16, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.norm(x)


network(MLP, ("B", 20))
network(CNN, (2, 16, 16, 3))
network(Residual, (2, 9, 9, 8))
network(Transformer, (2, 12), integers=(0,))
network(RMS, (2, 7, 16))


def equinox(name: str, make: Callable[[jax.Array], Any], *shapes: Shape) -> None:
    """Add a network of Equinox, which takes one sample, on a batch of them."""
    EXPORTS[name] = Export(lambda: jax.vmap(make(jax.random.key(0))), shapes)


equinox("equinox-mlp", lambda key: eqx.nn.MLP(12, 4, 16, 2, key=key), (3, 12))
equinox("equinox-conv", lambda key: eqx.nn.Conv2d(3, 8, 3, padding=1, key=key), (2, 3, 9, 9))
equinox("equinox-norm", lambda key: eqx.nn.LayerNorm(16), (4, 16))


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def rotated(x: jax.Array) -> jax.Array:
    """Return tokens turned by their positions (rotary embeddings)."""
    half = x.shape[-1] // 2
    steps, turns = jnp.arange(x.shape[1], dtype=x.dtype), jnp.arange(half, dtype=x.dtype)
    angles = jnp.outer(steps, jnp.exp(turns * (-np.log(1e4) / half)))
    a, b = jnp.split(x, 2, axis=-1)
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def cell(state: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    new = jnp.tanh(state * 0.5 + x)
    return new, new * 2


HEADS = (2, 6, 4, 8)
function("attention", attention, HEADS, HEADS, HEADS)
function("rotated", rotated, (2, 6, 16))
function("softmax", lambda x: jax.nn.softmax(x, axis=1), ("B", 5, 4))
function("logsumexp", lambda x: jax.nn.logsumexp(x, axis=-1), ("B", 9))
function("einsum", lambda x, y: jnp.einsum("ijk,lk->jil", x, y), (2, 3, 4), (5, 4))
function("scan", lambda x: lax.scan(cell, jnp.zeros(4), x)[1], (7, 4))
function("fori_loop", lambda x: lax.fori_loop(0, 5, lambda i, v: v * 1.5 + i, x), (4,))
function(
    "while_loop",
    lambda x: lax.while_loop(lambda v: jnp.sum(v) < 100, lambda v: v * 2 + 1, x),
    (4,),
)
function("cond", lambda x: lax.cond(x.sum() > 1, jnp.sin, lambda v: v * 3, x), (4,))
function("sort", lambda x: jnp.sort(x, axis=1), (4, 9))
function("argsort", lambda x: jnp.argsort(x, axis=1), (4, 9))
function("top_k", lambda x: lax.top_k(x, 3), (4, 9))
function("argmax", lambda x: jnp.argmax(x, axis=1), (4, 9))
function("cumsum", lambda x: jnp.cumsum(x, axis=1), (4, 9))
function("take", lambda x, i: jnp.take(x, i, axis=0), (10, 4), (5,), integers=(1,))
function("added", lambda x, i: x.at[i].add(1.0), (10, 4), (5,), integers=(1,))
function("stored", lambda x, i: x.at[i].set(7.0), (10, 4), (1,), integers=(1,))
function("slices", lambda x: x[1:7:2, ::-1][:, :3], (8, 5))
function(
    "dynamic_slice",
    lambda x, i: lax.dynamic_slice(x, (i[0], 1), (2, 3)),
    (12, 5),
    (1,),
    integers=(1,),
)
function("where", lambda x: jnp.where(x > 0.5, x, jnp.clip(x, 0.1, 0.3)), ("B", 5))
function("variance", lambda x: jnp.var(x, axis=1, ddof=1), ("B", 9))
function("one_hot", lambda x: jax.nn.one_hot(x, 10), (4,), integers=(0,))
function("erf", lambda x: jax.scipy.special.erf(x) + jnp.expm1(x) + jnp.log1p(x), (4, 9))
function("remainder", lambda x: jnp.mod(x - 0.5, 0.3) + jnp.floor(x * 7) + jnp.round(x * 9), (4, 9))
function("pad", lambda x: jnp.pad(x, ((1, 2), (0, 3)), mode="reflect"), (4, 9))
function("repeat", lambda x: jnp.repeat(jnp.tile(x, (2, 1)), 3, axis=1), (4, 5))
function(
    "pooled",
    lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
    (2, 9, 9, 4),
    store=True,
)
function(
    "window_sums",
    lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
    (2, 9, 9, 4),
)
function("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 10), (7, 3), (7,), integers=(1,))


def export(name: str, path: Path) -> dict[str, np.ndarray]:
    entry = EXPORTS[name]
    specs = [
        jax.ShapeDtypeStruct(shape, jnp.int32) if number in entry.integers else shape
        for number, shape in enumerate(entry.shapes)
    ]
    call = entry.make()
    made = to_onnx(call, specs)
    rng = np.random.default_rng(0)
    inputs = {}
    for number, (given, shape) in enumerate(zip(made.graph.input, entry.shapes, strict=True)):
        sizes = [SIZES[size] if isinstance(size, str) else size for size in shape]
        if number in entry.integers:
            inputs[given.name] = rng.integers(0, BELOW, sizes, dtype=np.int32)
        else:
            inputs[given.name] = rng.random(sizes, dtype=np.float32)
    onnx.save(made, path)
    return inputs | ({STORED: np.asarray(call(*inputs.values()))} if entry.store else {})


if __name__ == "__main__":
    export_all({name: lambda path, name=name: export(name, path) for name in EXPORTS})
