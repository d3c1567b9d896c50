"""Symbolic sizes of dimensions: sums of products of unknown sizes, in normal form.

    size_of_text("h // 2 * 4 + batch")

Two sizes are equal for all values of the unknowns if their normal forms are equal. The affine
expressions of xDSL have no products of unknowns, and the linear forms of `compiler/analysis/arith`
are about SSA values; neither has a text form with names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from math import gcd, prod
from typing import TypeAlias

__all__ = ["Product", "Size", "Symbol", "TooComplex", "size_of_text"]

MAX_TERMS = 256
"""The maximum number of terms of a size: a detector joins the boxes of 91 classes."""

MAX_FACTORS = 32
"""The maximum number of factors of a term. A product of two sums is not multiplied out if it has
more than four times as many terms."""

MAX_TEXT = 256
"""The maximum length of a text that is read as an expression; a longer one is a name."""


class TooComplex(ArithmeticError):
    """Raised for a size with too many terms, or whose factors are too large."""


@dataclass(frozen=True)
class Symbol:
    """An unknown size, at least 0. A name that begins with `?` is anonymous: it has no text."""

    name: str

    @property
    def anonymous(self) -> bool:
        return self.name.startswith("?")

    @property
    def key(self) -> str:
        return repr(self.name)


@dataclass(frozen=True)
class Quotient:
    """The quotient of two sizes, rounded down; the divisor is positive."""

    dividend: Size
    divisor: int

    @cached_property
    def key(self) -> str:
        return f"({self.dividend.key}) // {self.divisor}"


Atom: TypeAlias = Symbol | Quotient
Product: TypeAlias = tuple[Atom, ...]
"""Factors in the order of their keys; () is 1."""


@dataclass(frozen=True)
class Size:
    """A sum of products of atoms with coefficients other than 0, in the order of their keys.

    Integers do not overflow. TooComplex is raised by operations whose result would be too large.
    """

    terms: tuple[tuple[Product, int], ...]

    # Construction

    @staticmethod
    def of(value: int) -> Size:
        """Return a known size."""
        return Size((((), value),) if value else ())

    @staticmethod
    def symbol(name: str) -> Size:
        """Return the unknown size `name`."""
        return Size((((Symbol(name),), 1),))

    @staticmethod
    def _sum(terms: Mapping[Product, int]) -> Size:
        left = [(product, factor) for product, factor in terms.items() if factor]
        if len(left) > MAX_TERMS or any(len(product) > MAX_FACTORS for product, _ in left):
            raise TooComplex(f"a size of more than {MAX_TERMS} terms or {MAX_FACTORS} factors")
        if any(abs(factor) >> 63 for _, factor in left):
            raise TooComplex("a size beyond an i64")
        return Size(tuple(sorted(left, key=lambda term: _key(term[0]))))

    # Queries

    @cached_property
    def key(self) -> str:
        """The normal form as text; for the order of factors."""
        return " + ".join(f"{factor} * {_key(product)}" for product, factor in self.terms)

    @property
    def known(self) -> int | None:
        """The size if it is known."""
        if not self.terms:
            return 0
        ((product, factor), *others) = self.terms
        return factor if not product and not others else None

    @property
    def lone_symbol(self) -> Symbol | None:
        """The symbol, if the size is a single symbol and nothing else; otherwise None."""
        match self.terms:
            case (((Symbol() as symbol,), 1),):
                return symbol
            case _:
                return None

    def symbols(self) -> Iterator[Symbol]:
        """Yield the unknown sizes, some more than once."""
        for product, _ in self.terms:
            for atom in product:
                if isinstance(atom, Symbol):
                    yield atom
                else:
                    yield from atom.dividend.symbols()

    @property
    def low(self) -> int | None:
        """A lower bound for all values of the unknowns, which are at least 0; None if there is
        none."""
        bound = 0
        for product, factor in self.terms:
            if not product:
                bound += factor
            elif factor < 0:
                return None
            else:
                lows = [_low(atom) for atom in product]
                if any(low is None or low < 0 for low in lows):
                    return None
                bound += factor * prod(low for low in lows if low is not None)
        return bound

    def is_positive(self) -> bool:
        """Return whether the size is at least 1 for all values of the unknowns."""
        return (self.low or 0) > 0

    def vanishes_with(self, other: Size) -> bool:
        """Return whether the size is known to be 0 wherever `other` is 0."""
        if self == other or other.is_positive():
            return True
        if len(other.terms) != 1:
            return False
        ((factors, _),) = other.terms
        return all(set(factors) <= set(product) for product, _ in self.terms)

    # Arithmetic

    def __add__(self, other: Size) -> Size:
        terms = dict(self.terms)
        for product, factor in other.terms:
            terms[product] = terms.get(product, 0) + factor
        return Size._sum(terms)

    def __neg__(self) -> Size:
        return Size(tuple((product, -factor) for product, factor in self.terms))

    def __sub__(self, other: Size) -> Size:
        return self + -other

    def __mul__(self, other: Size) -> Size:
        count = len(self.terms) * len(other.terms)
        if count > (MAX_TERMS if 1 in (len(self.terms), len(other.terms)) else 4 * MAX_FACTORS):
            raise TooComplex(f"a product of {len(self.terms)} and {len(other.terms)} terms")
        terms: dict[Product, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                product = tuple(sorted((*left, *right), key=lambda atom: atom.key))
                terms[product] = terms.get(product, 0) + a * b
        return Size._sum(terms)

    def __floordiv__(self, divisor: int) -> Size:
        """Return the quotient, rounded down, for a positive divisor."""
        assert divisor > 0
        whole = {product: factor // divisor for product, factor in self.terms if product}
        rest = {product: factor % divisor for product, factor in self.terms if product}
        constant = dict(self.terms).get((), 0)
        left = Size._sum(rest)
        if not left.terms:
            return Size._sum({**whole, (): constant // divisor})
        # (2h + 3) // 4 = (h + 1) // 2: the common factor divides all but the constant.
        common = gcd(divisor, *(factor for _, factor in left.terms))
        left = Size._sum({product: factor // common for product, factor in left.terms})
        constant, divisor = constant // common, divisor // common
        whole[()], constant = divmod(constant, divisor)
        left += Size.of(constant)
        atom: Atom
        match left.terms:
            case (((Quotient() as inner,), 1),):  # (h // 2) // 3 = h // 6
                return Size._sum(whole) + inner.dividend // (inner.divisor * divisor)
            case _:
                atom = Quotient(left, divisor)
        return Size._sum(whole) + Size((((atom,), 1),))

    def divided_exactly(self, divisor: Size) -> Size | None:
        """Return the quotient by a divisor that is not 0, and that divides the size without a
        remainder. None unless `divisor` is a single product that divides each term, a positive
        integer, or the size itself."""
        if len(divisor.terms) != 1:
            return Size.of(1) if self == divisor else None
        ((factors, number),) = divisor.terms
        terms: dict[Product, int] = {}
        for product, factor in self.terms:
            left = [*product]
            for atom in factors:
                if atom not in left:
                    return None
                left.remove(atom)
            terms[(*left,)] = factor
        quotient = Size._sum(terms)
        if number > 0:
            return quotient // number
        return None

    def linear_root(self) -> tuple[Symbol, int, int] | None:
        """Return the symbol of the size, and the dividend and divisor of the only value of it for
        which the size is 0. None unless the size is a multiple of one symbol plus a known size."""
        constant, symbol, factor = 0, None, 0
        for product, number in self.terms:
            match product:
                case ():
                    constant = number
                case (Symbol() as only,) if symbol is None:
                    symbol, factor = only, number
                case _:
                    return None
        return None if symbol is None else (symbol, -constant, factor)

    def linear_in(self, symbol: Symbol) -> tuple[Size, Size] | None:
        """Return a and b such that the size is `a * symbol + b`, and neither depends on the symbol;
        None if the size is no such sum."""
        parts: tuple[dict[Product, int], dict[Product, int]] = {}, {}
        for product, number in self.terms:
            others = tuple(atom for atom in product if atom != symbol)
            parts[len(others) == len(product)][others] = number
        slope, rest = map(Size._sum, parts)
        whole = slope * Size.symbol(symbol.name) + rest
        left = {*slope.symbols(), *rest.symbols()}
        return (slope, rest) if whole == self and symbol not in left else None

    def substitute(self, value_of: Callable[[Symbol], Size | None]) -> Size:
        """Replace the symbols that have a value."""
        result = Size(())
        for product, factor in self.terms:
            factors = [Size.of(factor), *(_substituted(atom, value_of) for atom in product)]
            result += reduce(Size.__mul__, factors)
        return result

    def bind(self, sizes: Mapping[str, int | Size]) -> Size:
        """Replace the names in `sizes` by their sizes."""

        def value_of(symbol: Symbol) -> Size | None:
            found = sizes.get(symbol.name)
            return Size.of(found) if isinstance(found, int) else found

        return self.substitute(value_of)

    # Text

    @property
    def text(self) -> str | None:
        """The text, which `size_of_text` reads back unless the size is known; None for a size with
        anonymous unknowns."""
        if (known := self.known) is not None:
            return str(known)
        if (symbol := self.lone_symbol) is not None:
            # A name of any form stands for itself.
            return None if symbol.anonymous else symbol.name
        text = _sum_text(self)
        match self.terms:
            case (((Quotient(),), 1),) if text is not None:
                text = text[1:-1]
            case _:
                pass
        if text is None or len(text) > MAX_TEXT:
            return None
        return text if size_of_text(text) == self else None

    def __str__(self) -> str:
        return self.text or "?"


def _key(product: Product) -> str:
    return " * ".join(atom.key for atom in product)


def _low(atom: Atom) -> int | None:
    if isinstance(atom, Symbol):
        return 0
    low = atom.dividend.low
    return None if low is None else low // atom.divisor


def _substituted(atom: Atom, value_of: Callable[[Symbol], Size | None]) -> Size:
    if isinstance(atom, Quotient):
        return atom.dividend.substitute(value_of) // atom.divisor
    value = value_of(atom)
    return Size((((atom,), 1),)) if value is None else value


# Text

_NAME = r"[^\W\d][\w.]*(?:-[^\W\d][\w.]*)*"
_TOKEN = re.compile(rf"\s*(?:(\d+)|({_NAME})|'([^']+)'|(//|[-+*/()]))")


def _sum_text(size: Size) -> str | None:
    """Return the text of a sum, known sizes last, a positive term first if there is one."""
    terms = sorted(size.terms, key=lambda term: (not term[0], term[1] < 0))
    text = ""
    for product, factor in terms:
        factors = [_atom_text(atom) for atom in product]
        known = [each for each in factors if each is not None]
        if len(known) < len(factors):
            return None
        if abs(factor) != 1 or not known:
            known.insert(0, str(abs(factor)))
        sign = "-" if factor < 0 else "+"
        joined = " * ".join(known)
        text = f"{text} {sign} {joined}" if text else joined if factor > 0 else f"-{joined}"
    return text or "0"


def _atom_text(atom: Atom) -> str | None:
    if isinstance(atom, Symbol):
        if atom.anonymous or "'" in atom.name:
            return None
        return atom.name if re.fullmatch(_NAME, atom.name) else f"'{atom.name}'"
    if (dividend := _sum_text(atom.dividend)) is None:
        return None
    simple = atom.dividend.lone_symbol is not None
    return f"({dividend if simple else f'({dividend})'} // {atom.divisor})"


@lru_cache(1 << 10)
def size_of_text(text: str) -> Size:
    """Return the size that a text stands for.

    It is an expression of names and integers with `+`, `-`, `*`, `//` (also `/`; rounded down, the
    divisor is a positive integer) and parentheses; names that are not words stand in single quotes.
    Any other text, or a known size, is a name as a whole: `batch size`.
    """
    if len(text) <= MAX_TEXT and not text.startswith("?"):
        try:
            size = _SizeReader(text).read()
        except (ValueError, TooComplex):
            pass
        else:
            if size.known is None:
                return size
    return Size.symbol(text if not text.startswith("?") else f"'{text}")


class _SizeReader:
    """Reads an expression; ValueError for any other text."""

    def __init__(self, text: str) -> None:
        self.tokens = [*_tokens(text)]
        self.place = 0

    def read(self) -> Size:
        size = self.sum()
        if self.peek():
            raise ValueError(self.peek())
        return size

    def peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, *expected: str) -> str:
        """Consume and return the next token if it is in `expected`; otherwise return an empty
        string."""
        token = self.peek()
        if token not in expected or not token:
            return ""
        self.place += 1
        return token

    def sum(self) -> Size:
        size = -self.product() if self.take("-") else self.product()
        while sign := self.take("+", "-"):
            size = size + self.product() if sign == "+" else size - self.product()
        return size

    def product(self) -> Size:
        size = self.factor()
        while sign := self.take("*", "//", "/"):
            factor = self.factor()
            if sign == "*":
                size *= factor
            elif (divisor := factor.known) is not None and divisor > 0:
                size //= divisor
            else:
                raise ValueError("a divisor that is not a positive integer")
        return size

    def factor(self) -> Size:
        token = self.peek()
        self.place += 1
        if token == "(":
            size = self.sum()
            if not self.take(")"):
                raise ValueError("expected ')'")
            return size
        if token[:1].isdigit():
            return Size.of(int(token))
        if token.startswith("'"):
            return Size.symbol(token[1:])
        if not token or token in ("//", *"-+*/()"):
            raise ValueError(f"unexpected '{token}'")
        return Size.symbol(token)


def _tokens(text: str) -> Iterator[str]:
    """Yield the tokens of an expression, quoted names with the opening quote."""
    place, text = 0, text.rstrip()
    while place < len(text):
        if (match := _TOKEN.match(text, place)) is None:
            raise ValueError(text[place:])
        number, name, quoted, sign = match.groups()
        yield number or name or sign or f"'{quoted}"
        place = match.end()
