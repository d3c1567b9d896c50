"""The networks and operations of `gpu.py`. Each is written once, for relax, torch and JAX.

A network is a function of an object with the operations, `Operations`: `RelaxOperations` writes the
text of a module, and the others compute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

Network: TypeAlias = "Callable[[Operations], Any]"


class Operations(Protocol):
    """What networks compute with; all arrays are f16, images are NCHW."""

    def input(self, *shape: int) -> Any:
        """Return the next argument."""
        ...

    def weight(self, *shape: int) -> Any:
        """Return the next argument, whose values are small."""
        ...

    def matmul(self, x: Any, y: Any) -> Any: ...
    def add(self, x: Any, y: Any) -> Any: ...
    def relu(self, x: Any) -> Any: ...
    def gelu(self, x: Any) -> Any: ...
    def softmax(self, x: Any) -> Any: ...
    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any: ...
    def attention(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        """Compute attention; the operands are (batch, length, heads, width)."""
        ...

    def reshape(self, x: Any, *shape: int) -> Any: ...
    def conv(self, x: Any, weight: Any, stride: int, padding: int) -> Any: ...
    def max_pool(self, x: Any) -> Any:
        """Compute the maxima of windows of 3x3, with stride 2."""
        ...

    def mean(self, x: Any) -> Any:
        """Compute the means of images."""
        ...


class Tensor(NamedTuple):
    """A value of a module."""

    name: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        return f"tensor<{'x'.join(map(str, self.shape))}xf16>"


class RelaxOperations:
    """The operations that write a module."""

    def __init__(self) -> None:
        self.arguments: list[Tensor] = []
        self.weights: set[str] = set()
        self.lines: list[str] = []
        self.flops = 0.0
        """The multiplications and additions of products."""

    def text(self, result: Tensor) -> str:
        """Return the module, whose function @main returns `result`."""
        given = ", ".join(f"{each.name}: {each.type}" for each in self.arguments)
        end = f"  func.return {result.name} : {result.type}"
        lines = [f"func.func @main({given}) -> {result.type} {{", *self.lines, end, "}", ""]
        return "\n".join(lines)

    def _emit(
        self, name: str, operands: Sequence[Tensor], shape: Sequence[int], more: str = ""
    ) -> Tensor:
        result = Tensor(f"%v{len(self.lines)}", tuple(shape))
        given, types = ", ".join(x.name for x in operands), ", ".join(x.type for x in operands)
        line = f"  {result.name} = relax.{name} {given}{more} : ({types}) -> {result.type}"
        self.lines.append(line)
        return result

    def input(self, *shape: int) -> Tensor:
        self.arguments.append(Tensor(f"%a{len(self.arguments)}", shape))
        return self.arguments[-1]

    def weight(self, *shape: int) -> Tensor:
        weight = self.input(*shape)
        self.weights.add(weight.name)
        return weight

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        self.flops += 2.0 * prod(x.shape) * y.shape[-1]
        return self._emit("matmul", [x, y], (*x.shape[:-1], y.shape[-1]))

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return self._emit("add", [x, y], x.shape)

    def relu(self, x: Tensor) -> Tensor:
        return self._emit("nn.relu", [x], x.shape)

    def gelu(self, x: Tensor) -> Tensor:
        return self._emit("nn.gelu", [x], x.shape)

    def softmax(self, x: Tensor) -> Tensor:
        return self._emit("nn.softmax", [x], x.shape, f" {{axis = {len(x.shape) - 1}}}")

    def layer_norm(self, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        axes = f" {{axes = [{len(x.shape) - 1}]}}"
        return self._emit("nn.layer_norm", [x, weight, bias], x.shape, axes)

    def attention(self, q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
        self.flops += (2.0 if causal else 4.0) * prod(q.shape) * k.shape[1]
        mask = ' {causal_mask = "TopLeft"}' if causal else ""
        return self._emit("nn.attention", [q, k, v], q.shape, mask)

    def reshape(self, x: Tensor, *shape: int) -> Tensor:
        return self._emit("reshape", [x], shape, f" {{newshape = [{', '.join(map(str, shape))}]}}")

    def conv(self, x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
        outer, inner, *window = weight.shape
        sizes = [(n + 2 * padding - w) // stride + 1 for n, w in zip(x.shape[2:], window)]
        shape = (x.shape[0], outer, *sizes)
        self.flops += 2.0 * prod(shape) * inner * prod(window)
        more = f" {{strides = [{stride}, {stride}], padding = [{', '.join([str(padding)] * 4)}]}}"
        return self._emit("nn.conv2d", [x, weight], shape, more)

    def max_pool(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], *((n - 1) // 2 + 1 for n in x.shape[2:]))
        more = " {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]}"
        return self._emit("nn.max_pool2d", [x], shape, more)

    def mean(self, x: Tensor) -> Tensor:
        return self._emit("mean", [x], x.shape[:2], " {axis = [2, 3]}")


class ArrayOperations:
    """The operations whose arguments are given."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self._arguments = iter(arguments)

    def input(self, *_: int) -> Any:
        return next(self._arguments)

    weight = input

    def matmul(self, x: Any, y: Any) -> Any:
        return x @ y

    def add(self, x: Any, y: Any) -> Any:
        return x + y

    def reshape(self, x: Any, *shape: int) -> Any:
        return x.reshape(shape)

    def mean(self, x: Any) -> Any:
        return x.mean((2, 3))


class TorchOperations(ArrayOperations):
    """The operations of torch."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        super().__init__(arguments)
        self._f: Any = import_module("torch.nn.functional")

    def relu(self, x: Any) -> Any:
        return self._f.relu(x)

    def gelu(self, x: Any) -> Any:
        return self._f.gelu(x)

    def softmax(self, x: Any) -> Any:
        return self._f.softmax(x, -1)

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        return self._f.layer_norm(x, weight.shape, weight, bias)

    def attention(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        given = (each.transpose(1, 2) for each in (q, k, v))
        return self._f.scaled_dot_product_attention(*given, is_causal=causal).transpose(1, 2)

    def conv(self, x: Any, weight: Any, stride: int, padding: int) -> Any:
        return self._f.conv2d(x, weight, stride=stride, padding=padding)

    def max_pool(self, x: Any) -> Any:
        return self._f.max_pool2d(x, 3, 2, 1)


class JaxOperations(ArrayOperations):
    """The operations of JAX."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        super().__init__(arguments)
        self._jax: Any = import_module("jax")

    def relu(self, x: Any) -> Any:
        return self._jax.nn.relu(x)

    def gelu(self, x: Any) -> Any:
        return self._jax.nn.gelu(x, approximate=False)

    def softmax(self, x: Any) -> Any:
        return self._jax.nn.softmax(x, -1)

    def layer_norm(self, x: Any, weight: Any, bias: Any) -> Any:
        wide = x.astype("float32")
        centered = wide - wide.mean(-1, keepdims=True)
        scale = self._jax.lax.rsqrt(centered.var(-1, keepdims=True) + 1e-5)
        return (centered * scale).astype(x.dtype) * weight + bias

    def attention(self, q: Any, k: Any, v: Any, causal: bool) -> Any:
        return self._jax.nn.dot_product_attention(q, k, v, is_causal=causal)

    def conv(self, x: Any, weight: Any, stride: int, padding: int) -> Any:
        pads = [(padding, padding)] * 2
        return self._jax.lax.conv_general_dilated(x, weight, (stride, stride), pads)

    def max_pool(self, x: Any) -> Any:
        pads = ((0, 0), (0, 0), (1, 1), (1, 1))
        lax = self._jax.lax
        return lax.reduce_window(x, -np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), pads)


# Networks


def product(n: int) -> Network:
    return lambda o: o.matmul(o.input(n, n), o.input(n, n))


def softmax(m: int, n: int) -> Network:
    return lambda o: o.softmax(o.input(m, n))


def layer_norm(m: int, n: int) -> Network:
    return lambda o: o.layer_norm(o.input(m, n), o.input(n), o.input(n))


def elementwise(m: int, n: int) -> Network:
    return lambda o: o.relu(o.add(o.input(m, n), o.input(m, n)))


def attention(batch: int, length: int, heads: int, width: int) -> Network:
    shape = (batch, length, heads, width)
    return lambda o: o.attention(*(o.input(*shape) for _ in range(3)), causal=True)


class Transformer(NamedTuple):
    """The blocks of a transformer, with products for a vocabulary at the end, if it has one."""

    batch: int
    length: int
    heads: int
    width: int
    layers: int
    is_decoder: bool = False
    """Whether attention is causal, and norms are before the sums, as in GPT-2; else as in BERT."""
    vocabulary: int = 0

    def __call__(self, o: Operations) -> Any:
        n = self.heads * self.width
        x = o.input(self.batch, self.length, n)
        for _ in range(self.layers):
            if self.is_decoder:
                x = o.add(x, self.attended(o, self.norm(o, x)))
                x = o.add(x, self.perceptron(o, self.norm(o, x)))
            else:
                x = self.norm(o, o.add(x, self.attended(o, x)))
                x = self.norm(o, o.add(x, self.perceptron(o, x)))
        return o.matmul(self.norm(o, x), o.weight(n, self.vocabulary)) if self.vocabulary else x

    def linear(self, o: Operations, x: Any, inner: int, outer: int) -> Any:
        return o.add(o.matmul(x, o.weight(inner, outer)), o.weight(outer))

    def norm(self, o: Operations, x: Any) -> Any:
        n = self.heads * self.width
        return o.layer_norm(x, o.weight(n), o.weight(n))

    def attended(self, o: Operations, x: Any) -> Any:
        n, parted = self.heads * self.width, (self.batch, self.length, self.heads, self.width)
        parts = [o.reshape(self.linear(o, x, n, n), *parted) for _ in range(3)]
        seen = o.reshape(o.attention(*parts, causal=self.is_decoder), self.batch, self.length, n)
        return self.linear(o, seen, n, n)

    def perceptron(self, o: Operations, x: Any) -> Any:
        n = self.heads * self.width
        return self.linear(o, o.gelu(self.linear(o, x, n, 4 * n)), 4 * n, n)


class ResNet(NamedTuple):
    """A residual network of bottlenecks; the scales of normalizations are in the weights."""

    batch: int
    size: int = 224
    blocks: Sequence[int] = (3, 4, 6, 3)
    width: int = 64
    classes: int = 1000

    def __call__(self, o: Operations) -> Any:
        x = o.relu(self.conv(o, o.input(self.batch, 3, self.size, self.size), 3, self.width, 7, 2))
        x, inner = o.max_pool(x), self.width
        for stage, count in enumerate(self.blocks):
            outer = 4 * self.width << stage
            for block in range(count):
                stride = 2 if stage and not block else 1
                x, inner = self.bottleneck(o, x, inner, outer, stride), outer
        x = o.matmul(o.mean(x), o.weight(inner, self.classes))
        return o.add(x, o.weight(self.classes))

    def bottleneck(self, o: Operations, x: Any, inner: int, outer: int, stride: int) -> Any:
        narrow = outer // 4
        y = o.relu(self.conv(o, x, inner, narrow, 1, 1))
        y = o.relu(self.conv(o, y, narrow, narrow, 3, stride))
        y = self.conv(o, y, narrow, outer, 1, 1)
        if inner != outer:
            x = self.conv(o, x, inner, outer, 1, stride)
        return o.relu(o.add(y, x))

    def conv(self, o: Operations, x: Any, inner: int, outer: int, window: int, stride: int) -> Any:
        y = o.conv(x, o.weight(outer, inner, window, window), stride, window // 2)
        return o.add(y, o.weight(outer, 1, 1))


@dataclass(frozen=True)
class Case:
    """A network with its name."""

    name: str
    network: Network
    bytes: float = 0.0
    """The bytes that are read and written; 0 if the products take the time."""

    def module(self) -> tuple[str, list[np.ndarray[Any, Any]], float]:
        """Return the text of the module, its arguments, and the operations of its products."""
        o = RelaxOperations()
        text = o.text(self.network(o))
        generator = np.random.default_rng(0)
        arguments = [
            (generator.standard_normal(x.shape) * (0.05 if x.name in o.weights else 1)).astype("f2")
            for x in o.arguments
        ]
        return text, arguments, o.flops


def all_cases(tiny: bool) -> Iterator[Case]:
    """Yield the cases: those of small operations first; with `tiny`, one of each at a size for the
    interpreter."""
    rows = ((4, 48),) if tiny else ((4096, 1024), (8192, 4096), (1000, 777))
    for n in (32,) if tiny else (512, 1024, 2048, 4096, 8192):
        yield Case(f"product {n}", product(n))
    for m, n in rows:
        yield Case(f"softmax {m}x{n}", softmax(m, n), 4.0 * m * n)
        yield Case(f"layer_norm {m}x{n}", layer_norm(m, n), 4.0 * m * n)
        yield Case(f"add, relu {m}x{n}", elementwise(m, n), 6.0 * m * n)
    for width in (16,) if tiny else (64, 128):
        for length in (16,) if tiny else (1024, 2048, 4096, 8192):
            shape = (1, length, 2, width) if tiny else (4, length, 16, width)
            yield Case(f"attention {'x'.join(map(str, shape))}", attention(*shape))
    for batch in (1,) if tiny else (1, 32):
        net = ResNet(batch, 16, (1, 1), 4, 10) if tiny else ResNet(batch)
        yield Case(f"ResNet-50, batch {batch}", net)
        sizes = (8, 2, 8, 1) if tiny else (128, 12, 64, 12)
        yield Case(f"BERT-base, batch {batch}", Transformer(batch, *sizes))
        vocabulary = 40 if tiny else 50257
        net = Transformer(batch, *sizes, is_decoder=True, vocabulary=vocabulary)
        yield Case(f"GPT-2, batch {batch}", net)
