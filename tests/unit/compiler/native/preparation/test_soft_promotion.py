"""Arithmetic on bf16 and f16 is exact to the last bit, on this processor and on a generic one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from support.native.needs_llvmlite import needs_native
from support.operations.evaluation import Array
from support.parsing import parsed

from passline.compiler.interpreters.interpret import interpret
from passline.compiler.interpreters.signature import entry_function
from passline.compiler.native import compile_module
from passline.compiler.native.preparation.preparation import prepare

pytestmark = needs_native

WIDTHS = {
    "bf16": 16,
    "f16": 16,
    "f32": 32,
    "f64": 64,
    "i1": 8,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
}
"""The width of an element in memory, in bits."""
DTYPES: dict[str, type[np.generic]] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
QUIET = {"bf16": 0x7FC0, "f16": 0x7E00, "f32": 0x1FF << 22, "f64": 0xFFF << 51}
"""The bits that are set in a quiet NaN."""
DIGITS = {"bf16": 8, "f16": 11}
LEAST = {"bf16": -133, "f16": -24}
"""The exponents of the smallest positive numbers."""
HALVES = ("bf16", "f16")
WIDE = [*product(HALVES, ("f32", "f64"))]
ALL = np.arange(1 << 16, dtype=np.uint16)
"""All numbers of 16 bits, as bits."""
SIGN = 1 << 15
RNG = np.random.default_rng(0)


@pytest.fixture(params=[1, 16])
def lanes(request: pytest.FixtureRequest) -> int:
    """Return the lanes of the vectors in the kernels; 1 for scalars."""
    return request.param


# Kernels: their buffers hold the bits of numbers, as integers


@dataclass(frozen=True)
class Kernel:
    """Operations that compute `%v` from the elements `%a`, `%b`, `%c` of `operands`, given as bits.

    In `text`, `{f32}` stands for f32, or for a vector of f32.
    """

    text: str
    result: str
    operands: Sequence[tuple[str, Array]]

    @property
    def count(self) -> int:
        return self.operands[0][1].size


def evaluate(kernels: Sequence[Kernel], lanes: int) -> list[Array]:
    """Return the results of the kernels, as bits."""
    arrays = [bits for kernel in kernels for _, bits in kernel.operands]
    results = compile_module(parsed(module_text(kernels, lanes)))(
        *(bits.view(f"i{bits.itemsize}") for bits in arrays)
    )
    return [bits.view(f"u{bits.itemsize}") for bits in results]


def module_text(kernels: Sequence[Kernel], lanes: int) -> str:
    inputs = [
        f"%{name}{k}: memref<{kernel.count}xi{WIDTHS[element]}>"
        for k, kernel in enumerate(kernels)
        for name, (element, _) in zip("abc", kernel.operands, strict=False)
    ]
    results = [
        f"%r{k}: memref<{kernel.count}xi{WIDTHS[kernel.result]}>"
        for k, kernel in enumerate(kernels)
    ]
    loops = [line for k, kernel in enumerate(kernels) for line in loop_text(kernel, k, lanes)]
    return f"""
      tir.prim_func @main({", ".join(inputs + results)})
          attributes {{tir.outputs = {len(kernels)} : i64}} {{
        %zero = arith.constant 0 : index
        %lanes = arith.constant {lanes} : index
        {chr(10).join(loops)}
      }}"""


def loop_text(kernel: Kernel, k: int, lanes: int) -> Iterator[str]:
    types = {name: f"vector<{lanes}x{name}>" if lanes > 1 else name for name in WIDTHS}
    dialect = "vector" if lanes > 1 else "memref"

    def cast(value: str, source: str, target: str) -> str:
        op = {("i8", "i1"): "trunci", ("i1", "i8"): "extui"}.get((source, target), "bitcast")
        return f"arith.{op} {value} : {types[source]} to {types[target]}"

    def buffer(stored: str) -> str:
        return f"memref<{kernel.count}x{stored}>" + (f", {types[stored]}" if lanes > 1 else "")

    yield f"%n{k} = arith.constant {kernel.count // lanes} : index"
    yield f"tir.for %j = %zero extent %n{k} {{ %i = arith.muli %j, %lanes : index"
    for name, (element, _) in zip("abc", kernel.operands, strict=False):
        stored = f"i{WIDTHS[element]}"
        yield f"%{name}_ = {dialect}.load %{name}{k}[%i] : {buffer(stored)}"
        yield f"%{name} = {cast(f'%{name}_', stored, element)}"
    yield kernel.text.format(**types)
    stored = f"i{WIDTHS[kernel.result]}"
    yield f"%v_ = {cast('%v', kernel.result, stored)}"
    yield f"{dialect}.store %v_, %r{k}[%i] : {buffer(stored)} }}"


def check(kernels: Sequence[Kernel], expected: Sequence[Array], lanes: int) -> None:
    """Compare the results of the kernels with the expected bits. A NaN need only be quiet, as
    its sign is not defined."""
    for kernel, actual, other in zip(kernels, evaluate(kernels, lanes), expected, strict=True):
        if kernel.result in DTYPES:
            quiet = QUIET[kernel.result]
            nan = np.isnan(other.view(DTYPES[kernel.result]))
            actual, other = (np.where(nan, bits & quiet, bits) for bits in (actual, other))
            other = np.where(nan, quiet, other)
        np.testing.assert_array_equal(actual, other, f"{kernel.text} of {kernel.operands[0][0]}")


# References


def rounded_fraction(x: Fraction, element: str) -> float:
    """Round an exact number to nearest, ties to even."""
    size = abs(x)
    if size == 0:
        return 0.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    unit = Fraction(2) ** max(exponent - DIGITS[element] + 1, LEAST[element])
    size = round(size / unit) * unit
    largest = 65504 if element == "f16" else Fraction(2) ** 128 - Fraction(2) ** 120
    return float("inf" if size > largest else size) * (1 if x > 0 else -1)


def rounded(x: Array, element: str) -> Array:
    """Return the bits of f64 numbers rounded once: scaling by powers of 2 is exact."""
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(x)[1] - DIGITS[element], LEAST[element])
        result = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
        result = np.copysign(np.where(np.isfinite(x), result, x), x)
    return bits_of(result, element)


def bits_of(x: Array, element: str) -> Array:
    """Return the bits of numbers that `element` represents exactly, or that overflow."""
    with np.errstate(all="ignore"):
        return x.astype(np.float32).astype(DTYPES[element]).view(np.uint16)


def numbers(bits: Array, element: str) -> Array:
    """Return the numbers with these bits as f64."""
    with np.errstate(all="ignore"):
        return bits.view(DTYPES[element]).astype(np.float64)


def random_bits(count: int, width: int) -> Array:
    return RNG.integers(0, 1 << width, count, f"u{width // 8}")


def boundaries(half: str, wide: str) -> Array:
    """Return the bits of the numbers of type `wide` halfway between two neighbors of type
    `half`, of the next larger and smaller numbers, and of as many random numbers."""
    dtype = DTYPES[wide]
    all = numbers(ALL, half)
    finite = all[np.isfinite(all)]
    unit = np.ldexp(1.0, np.maximum(np.frexp(finite)[1] - DIGITS[half], LEAST[half]) - 1)
    middle = (finite + np.copysign(unit, finite)).astype(dtype)
    with np.errstate(all="ignore"):
        near = [np.nextafter(middle, dtype(end)) for end in (-np.inf, np.inf)]
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0, -0.0], dtype)
    values = np.concatenate([special, middle, *near])
    bits = values.view(f"u{values.itemsize}")
    bits = np.concatenate([bits, random_bits(bits.size, 8 * bits.itemsize)])
    return bits[: bits.size // 16 * 16]


# Conversions


def test_extension_is_exact(processor: str, lanes: int):
    kernels = [
        Kernel(f"%v = arith.extf %a : {{{half}}} to {{{wide}}}", wide, [(half, ALL)])
        for half, wide in WIDE
    ]
    for (half, wide), actual in zip(WIDE, evaluate(kernels, lanes), strict=True):
        with np.errstate(invalid="ignore"):
            expected = ALL.view(DTYPES[half]).astype(DTYPES[wide])
        nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(actual.view(DTYPES[wide])), nan)
        np.testing.assert_array_equal(np.signbit(actual.view(DTYPES[wide])), ALL >= SIGN)
        np.testing.assert_array_equal(actual[~nan], expected.view(actual.dtype)[~nan])


def test_all_patterns_come_back(processor: str, lanes: int):
    """Extension and truncation restore all bits, except that a NaN becomes quiet."""
    kernels = [
        Kernel(
            f"%w = arith.extf %a : {{{half}}} to {{{wide}}}\n"
            f"%v = arith.truncf %w : {{{wide}}} to {{{half}}}",
            half,
            [(half, ALL)],
        )
        for half, wide in WIDE
    ]
    for (half, _), actual in zip(WIDE, evaluate(kernels, lanes), strict=True):
        nan = np.isnan(numbers(ALL, half))
        np.testing.assert_array_equal(actual, np.where(nan, ALL | QUIET[half], ALL))


def test_truncation_rounds_once(processor: str, lanes: int):
    sources = [(half, wide, boundaries(half, wide)) for half, wide in WIDE]
    kernels = [
        Kernel(f"%v = arith.truncf %a : {{{wide}}} to {{{half}}}", half, [(wide, bits)])
        for half, wide, bits in sources
    ]
    expected = [rounded(numbers(bits, wide), half) for half, wide, bits in sources]
    with np.errstate(all="ignore"):
        for (half, wide, bits), other in zip(sources, expected, strict=True):
            if (half, wide) != ("bf16", "f64"):  # ml_dtypes rounds this twice
                peer = bits.view(DTYPES[wide]).astype(DTYPES[half]).view(np.uint16)
                number = ~np.isnan(other.view(DTYPES[half]))
                np.testing.assert_array_equal(peer[number], other[number])
    check(kernels, expected, lanes)


def test_integers_are_rounded_once(processor: str):  # xDSL cannot convert vectors of integers
    kernels: list[Kernel] = []
    expected: list[Array] = []
    for half, (type, width), sign in product(
        HALVES, [("i1", 1), ("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)], "su"
    ):
        bits = integers(width, DIGITS[half])
        kernels.append(
            Kernel(f"%v = arith.{sign}itofp %a : {{{type}}} to {{{half}}}", half, [(type, bits)])
        )
        half_range = 1 << width - 1
        values = [int(b) for b in bits]
        if sign == "s":
            values = [(b ^ half_range) - half_range for b in values]
        floats = np.array([rounded_fraction(Fraction(b), half) for b in values])
        expected.append(bits_of(floats, half))
    check(kernels, expected, 1)


def integers(width: int, digits: int) -> Array:
    """Return integers at and beside powers of 2, and at and beside the midpoints between two
    numbers of `digits` binary digits."""
    mask = (1 << width) - 1
    powers = [1 << n for n in range(width)]
    ties = [p | p >> digits for p in powers] + [p | p >> digits | p >> digits - 1 for p in powers]
    near = [n + d for n in powers + ties for d in (-1, 0, 1)]
    values = [n & mask for m in near for n in (m, -m)]
    values += [int(bits) & mask for bits in random_bits(512, 64)]
    return np.array(values[: len(values) // 16 * 16], f"u{max(width, 8) // 8}")


def test_conversions_to_integers(processor: str):
    kernels: list[Kernel] = []
    expected: list[Array] = []
    for half, width, sign in product(HALVES, (8, 16, 32, 64), "su"):
        low, high = (0, 1 << width) if sign == "u" else (-1 << width - 1, 1 << width - 1)
        values = numbers(ALL, half)
        with np.errstate(invalid="ignore"):
            fits = ALL[(np.trunc(values) >= low) & (np.trunc(values) < high)]
        fits = fits[: fits.size // 16 * 16]
        text = f"%v = arith.fpto{sign}i %a : {{{half}}} to {{i{width}}}"
        kernels.append(Kernel(text, f"i{width}", [(half, fits)]))
        whole = [int(x) & (1 << width) - 1 for x in numbers(fits, half)]
        expected.append(np.array(whole, f"u{width // 8}"))
    check(kernels, expected, 1)


# Arithmetic

BINARY = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "math.copysign": np.copysign,
}
UNARY = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.sqrt": np.sqrt,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
}


def pairs(half: str) -> tuple[Array, Array]:
    """Return pairs of numbers: all pairs of some special values, small and denormal numbers,
    random bits."""
    least_normal = 1 << DIGITS[half] - 1
    near = [0, 1, 2, 3, least_normal - 1, least_normal, least_normal + 1]
    one = int(bits_of(np.ones(1), half)[0])
    infinity = int(bits_of(np.array([np.inf]), half)[0])
    some = [*near, one - 1, one, one + 1, infinity - 1, infinity, infinity + 1]
    table = [*product([s | b for s in (0, SIGN) for b in some], repeat=2)]
    small = RNG.integers(0, 4 * least_normal, (2, 1 << 16), np.uint16)
    small[1, ::2] += one - 2 * least_normal  # gives small products and quotients
    lhs, rhs = np.concatenate(
        [np.array(table).T, small, random_bits(1 << 18, 16).reshape(2, -1)], 1
    )
    return tuple(x[: lhs.size // 16 * 16].astype(np.uint16) for x in (lhs, rhs))  # pyright: ignore


def test_arithmetic_is_correctly_rounded(processor: str, lanes: int):
    kernels: list[Kernel] = []
    expected: list[Array] = []
    with np.errstate(all="ignore"):
        for half in HALVES:
            lhs, rhs = pairs(half)
            for op, reference in BINARY.items():
                text = f"%v = {op} %a, %b : {{{half}}}"
                kernels.append(Kernel(text, half, [(half, lhs), (half, rhs)]))
                expected.append(rounded(reference(numbers(lhs, half), numbers(rhs, half)), half))
            for op, reference in UNARY.items():
                kernels.append(Kernel(f"%v = {op} %a : {{{half}}}", half, [(half, ALL)]))
                expected.append(rounded(reference(numbers(ALL, half)), half))
    check(kernels, expected, lanes)


def test_denormal_results_of_bf16(processor: str):
    """Test all significands with the exponents for which the f32 result is denormal too, and so
    rounded to fewer digits before it is rounded to bf16."""
    significands = np.arange(1.0, 256)
    x, y = np.meshgrid(significands, significands)
    kernels: list[Kernel] = []
    expected: list[Array] = []
    for op, reference, scale, exponents in (
        ("arith.mulf", np.multiply, -20, range(-131, -110)),
        ("arith.divf", np.divide, -100, range(17, 43)),
    ):
        # Each of the 255 * 255 pairs with 16 exponents: the size is a multiple of 16 lanes.
        a = np.repeat(bits_of(np.ldexp(x, scale).ravel(), "bf16"), 16)
        for part in (exponents[:16], exponents[-16:]):
            b = bits_of(np.ldexp(y.reshape(-1, 1), np.array(part)).ravel(), "bf16")
            text = f"%v = {op} %a, %b : {{bf16}}"
            kernels.append(Kernel(text, "bf16", [("bf16", a), ("bf16", b)]))
            expected.append(rounded(reference(numbers(a, "bf16"), numbers(b, "bf16")), "bf16"))
    check(kernels, expected, 16)


def test_multiply_add_is_rounded_once(processor: str, lanes: int):
    kernels: list[Kernel] = []
    expected: list[Array] = []
    for half in HALVES:
        a, b, c = (bits[: bits.size // 16 * 16] for bits in addends(half))
        operands = [(half, a), (half, b), (half, c)]
        kernels.append(Kernel(f"%v = math.fma %a, %b, %c : {{{half}}}", half, operands))
        x, y, z = (map(Fraction, numbers(bits, half)) for bits in (a, b, c))
        sums = [rounded_fraction(x * y + z, half) for x, y, z in zip(x, y, z, strict=True)]
        # A Fraction does not distinguish -0 from 0: take zeros from the sum in f64.
        with np.errstate(all="ignore"):
            near = numbers(a, half) * numbers(b, half) + numbers(c, half)
        expected.append(bits_of(np.where(near == 0, near, sums), half))
    check(kernels, expected, lanes)


def addends(half: str) -> Array:
    """Return a, b and c for a * b + c: random numbers, and products of small significands, many
    halfway between two numbers, with a c that is mostly much smaller."""
    digits, least_normal = DIGITS[half], 1 << DIGITS[half] - 1
    one, infinity = (int(bits_of(np.array([x]), half)[0]) for x in (1, np.inf))
    odd = least_normal >> digits // 2
    significands = [1, 3, odd, odd + 1, least_normal // 2 + 1, least_normal - 1]
    factors = [*product([one + n for n in significands], repeat=2)]
    small = [s | n for s in (0, SIGN) for n in (0, 1, least_normal, one // 2, one - least_normal)]
    table = [(a, b, c) for (a, b), c in product(factors, small)]
    random = random_bits(3 * 4096, 16).reshape(3, -1)
    finite = random[:, (random & 0x7FFF < infinity).all(axis=0)]
    return np.concatenate([np.array(table, np.uint16).T, finite], 1)


def test_comparisons(processor: str):
    references: dict[str, Callable[[Array, Array], Array]] = {
        "oeq": np.equal,
        "ogt": np.greater,
        "oge": np.greater_equal,
        "olt": np.less,
        "ole": np.less_equal,
        "une": np.not_equal,
    }
    kernels: list[Kernel] = []
    expected: list[Array] = []
    for half in HALVES:
        lhs, rhs = pairs(half)
        for predicate, reference in references.items():
            text = f"%v = arith.cmpf {predicate}, %a, %b : {{{half}}}"
            kernels.append(Kernel(text, "i1", [(half, lhs), (half, rhs)]))
            expected.append(reference(numbers(lhs, half), numbers(rhs, half)).view(np.uint8))
    check(kernels, expected, 1)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("with_acc", [False, True])
def test_reductions_are_rounded_after_each_step(processor: str, half: str, with_acc: bool):
    kinds = ("add", "mul", "maximumf", "minnumf")
    x = bits_of(RNG.uniform(0.5, 2, (len(kinds), 8)), half)
    acc = ", %acc" if with_acc else ""
    lines = [
        f"""%v{i} = vector.load %x[%c{i}, %c0] : memref<4x8xi16>, vector<8xi16>
            %h{i} = arith.bitcast %v{i} : vector<8xi16> to vector<8x{half}>
            %r{i} = vector.reduction <{kind}>, %h{i}{acc} : vector<8x{half}> into {half}
            %b{i} = arith.bitcast %r{i} : {half} to i16
            memref.store %b{i}, %y[%c{i}] : memref<4xi16>"""
        for i, kind in enumerate(kinds)
    ]
    constants = [f"%c{i} = arith.constant {i} : index" for i in range(4)]
    text = "\n".join([*constants, f"%acc = arith.constant 1.5 : {half}", *lines])
    module = parsed(f"""tir.prim_func @main(%x: memref<4x8xi16>, %y: memref<4xi16>)
            attributes {{tir.outputs = 1 : i64}} {{ {text} }}""")
    (actual,) = compile_module(module)(x.view(np.int16))
    (on_numpy,) = interpret(module, entry_function(module, "main"))(x.view(np.int16))
    np.testing.assert_array_equal(actual, np.asarray(on_numpy))
    steps = {"add": np.add, "mul": np.multiply, "maximumf": np.maximum, "minnumf": np.fmin}
    for row, kind, result in zip(x, kinds, actual.view(np.uint16), strict=True):
        values = [*[*bits_of(np.full(1, 1.5), half)][: int(with_acc)], *row]
        total = values[0]
        for value in values[1:]:
            pair = numbers(np.array([total, value], np.uint16), half)
            (total,) = rounded(np.array([steps[kind](*pair)]), half)
        assert result == total, kind


# Loads, stores, selects and constants


MOVES = """
tir.prim_func @main(%x: memref<4xELEMENT>, %y: memref<4x2xELEMENT>)
    attributes {tir.outputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %half = arith.constant 0.5 : ELEMENT
  %many = arith.constant dense<[1.0, -2.0, 0.1, 1.0e-40]> : vector<4xELEMENT>
  %w = memref.get_global @w : memref<4xELEMENT>
  %t = memref.alloc() : memref<4xELEMENT, "local">
  vector.store %many, %t[%c0] : memref<4xELEMENT, "local">, vector<4xELEMENT>
  tir.for %i = %c0 extent %c4 {
    %a = memref.load %x[%i] : memref<4xELEMENT>
    %b = memref.load %t[%i] : memref<4xELEMENT, "local">
    %c = memref.load %w[%i] : memref<4xELEMENT>
    %less = arith.cmpf olt, %a, %half : ELEMENT
    %d = scf.if %less -> (ELEMENT) { scf.yield %b : ELEMENT } else { scf.yield %c : ELEMENT }
    %e = arith.select %less, %a, %half : ELEMENT
    memref.store %d, %y[%i, %c0] : memref<4x2xELEMENT>
    memref.store %e, %y[%i, %c1] : memref<4x2xELEMENT>
  }
}
"memref.global"() <{sym_name = "w", sym_visibility = "private", constant, type = memref<4xELEMENT>,
    initial_value = dense<[3.0, 65504.0, -0.0, 0.3]> : tensor<4xELEMENT>}> : () -> ()
"""


@pytest.mark.parametrize("half", HALVES)
def test_values_are_moved(processor: str, half: str):
    module = parsed(MOVES.replace("ELEMENT", half))
    assert not re.search(r"[x (<]b?f16", str(prepare(module, "main").module))
    x = np.array([0.25, 1, np.nan, -1], np.float32 if half == "bf16" else np.float16)
    (y,) = compile_module(module)(x)
    many, w = np.array([1, -2, 0.1, 1e-40]), np.array([3, 65504, -0.0, 0.3])
    expected = np.stack([np.where(x < 0.5, many, w), np.where(x < 0.5, x, 0.5)], 1)
    np.testing.assert_array_equal(y.astype(np.float64), numbers(rounded(expected, half), half))
