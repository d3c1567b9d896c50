"""All accelerated work done both ways, ours and xDSL's: `PASSLINE_ACCELERATION=check`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import LocationAttr, ModuleOp, UnrealizedConversionCastOp, UnregisteredOp
from xdsl.ir import (
    Attribute,
    Block,
    Data,
    Operation,
    OpResult,
    ParametrizedAttribute,
    SSAValue,
    SSAValues,
)
from xdsl.ir.core import OpOperands
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import OpTrait
from xdsl.utils.exceptions import VerifyException

from ..errors import PasslineError
from .comparison import description, difference, read, texts
from .interface import (
    Check,
    Cloner,
    Creator,
    Editor,
    OpChecks,
    OpClass,
    PatternReader,
    Reader,
    Verifier,
)
from .naming_printer import NamingPrinter

T = TypeVar("T")
OpT = TypeVar("OpT", bound=Operation)
AttributeT = TypeVar("AttributeT", bound=Data[Any] | ParametrizedAttribute)


class AccelerationError(PasslineError):
    """The error for an accelerated part whose result is not that of xDSL."""


def both_ways(part: str, ours: T, of_xdsl: T) -> T:
    """Return an implementation that uses both, and raises AccelerationError if they differ."""
    checked: dict[str, Callable[[Any, Any], object]] = {
        "fields": _fields,
        "creating": _Creator,
        "copying": _ComparingCloner,
        "editing": _Editor,
        "reading": _reader,
        "printing": _printer,
        "verifying": _verifier,
        "rewriting": _pattern_reader,
    }
    if part not in checked:  # `locating`, whose errors are others than xDSL's
        return ours
    return cast(T, checked[part](ours, of_xdsl))


def _compare(part: str, expected: str, found: str) -> None:
    """Raise AccelerationError if two texts differ."""
    if expected != found:
        said = f"{part} differs from xDSL's own: {difference(expected, found)}"
        raise AccelerationError(f"{said}; PASSLINE_NO_ACCELERATION=1 avoids it: please report it")


_Readers: TypeAlias = tuple[Callable[[Any], Any], ...]


def _fields(ours: _Readers, of_xdsl: _Readers) -> _Readers:
    def checked(our_read: Callable[[Any], Any], read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def both(owner: object) -> object:
            found, expected = our_read(owner), read(owner)
            if _identity(found) != _identity(expected):
                _compare("fields", texts(expected), f"other: {texts(found)}")
            return found

        return both

    make = cast(Callable[..., _Readers], type(ours))
    return make(*map(checked, ours, of_xdsl))


def _identity(field: object) -> object:
    """Return fields for comparison: values and ops by identity, sequences by their elements."""
    if not isinstance(field, tuple | OpOperands):
        return id(field)
    return [*map(_identity, cast(Iterable[object], field))]


class _Creator:
    def __init__(self, ours: Creator, of_xdsl: Creator) -> None:
        self._ours, self._of_xdsl = ours, of_xdsl

    def make_attribute(self, cls: type[AttributeT], /, **fields: object) -> AttributeT:
        made = self._ours.make_attribute(cls, **fields)
        expected = self._of_xdsl.make_attribute(cls, **fields)
        equal = "equal" if made == expected else "another"
        _compare("creating", f"equal {texts(expected)}", f"{equal} {texts(made)}")
        return made

    def set_fields(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        properties: dict[str, Attribute],
        attributes: dict[str, Attribute],
        location: LocationAttr,
    ) -> None:
        other = object.__new__(type(op))
        self._of_xdsl.set_fields(other, operands, dict(properties), dict(attributes), location)
        self._of_xdsl.set_results(other, ())
        expected = _detached(other)
        self._ours.set_fields(op, operands, properties, attributes, location)
        _compare("creating", expected, description(op))

    def set_results(self, op: Operation, types: Iterable[Attribute]) -> None:
        types = [*types]
        self._of_xdsl.set_results(op, types)
        expected = [*map(_described, op.results)]
        self._ours.set_results(op, types)
        _compare("creating", str(expected), str([*map(_described, op.results)]))

    def create_before(
        self,
        place: Operation,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: dict[str, Attribute],
    ) -> Operation:
        arguments = place, op_class, operands, result_types
        other = self._of_xdsl.create_before(*arguments, dict(properties))
        other.detach()
        expected = _detached(other)
        op = self._ours.create_before(*arguments, properties)
        _compare("creating", expected, description(op))
        return op


def _described(result: OpResult) -> tuple[object, ...]:
    return texts(result.type), result.index, id(result.op), result.name_hint, result.first_use


def _detached(op: Operation) -> str:
    """Return the text of an op that is not needed any more."""
    text = description(op)
    op.drop_all_references()
    return text


class _ComparingCloner:
    def __init__(self, ours: Cloner, of_xdsl: Cloner) -> None:
        self._ours, self._of_xdsl = ours, of_xdsl

    def clone(self, op: OpT) -> OpT:
        expected = _nameless(_detached(self._of_xdsl.clone(op)))
        copy = self._ours.clone(op)
        _compare("copying", expected, _nameless(description(copy)))
        return copy

    def clone_all(
        self,
        ops: Sequence[Operation],
        values: dict[SSAValue, SSAValue],
        wanted: Iterable[SSAValue] = (),
    ) -> list[Operation]:
        others = self._of_xdsl.clone_all(ops, dict(values))
        expected = "\n".join(map(_nameless, map(description, others)))
        for op in reversed(others):
            op.drop_all_references()
        copies = self._ours.clone_all(ops, values, wanted)
        _compare("copying", expected, "\n".join(map(_nameless, map(description, copies))))
        return copies


def _nameless(text: str) -> str:
    """Return a description without the numbers at the end of names, which xDSL's copies lack."""
    return re.sub(r"(?<=^  )(%\d+ \w+?)_\d+ ", r"\1 ", text, flags=re.MULTILINE)


class _Editor:
    def __init__(self, ours: Editor, of_xdsl: Editor) -> None:
        self._ours, self._of_xdsl = ours, of_xdsl

    def replace_operands(self, op: Operation, operands: SSAValues) -> None:
        self._ours.replace_operands(op, operands)
        places = [(value, (op, index)) for index, value in enumerate(operands)]
        if [*op.operands] != [*operands] or not all(place in _uses(v) for v, place in places):
            _compare("editing", texts([*operands]), f"other uses: {texts([*op.operands])}")

    def replace_all_uses(self, old: SSAValue, new: SSAValue) -> None:
        """Let xDSL replace a value that has the same uses, of other ops."""
        old_like, users = _like(old)
        new_like, others = _like(new)
        if new is not old:
            self._of_xdsl.replace_all_uses(old_like, new_like)
        users |= others
        expected = [users[user] for user, _ in _uses(old_like if new is old else new_like)]
        self._ours.replace_all_uses(old, new)
        found = _uses(new)
        if found != expected:
            _compare("editing", _numbers(expected, found), _numbers(found, expected))


def _numbers(uses: list[tuple[Operation, int]], others: list[tuple[Operation, int]]) -> str:
    """Return the places of uses in a list of others."""
    return str([others.index(use) if use in others else "no use" for use in uses])


def _uses(value: SSAValue) -> list[tuple[Operation, int]]:
    return [(use.operation, use.index) for use in value.uses]


def _like(value: SSAValue) -> tuple[SSAValue, dict[Operation, tuple[Operation, int]]]:
    """Return a value with as many uses in the same order, and the use that each user stands for."""
    like = UnrealizedConversionCastOp.create(result_types=[value.type]).results[0]
    users = reversed(_uses(value))
    return like, {UnrealizedConversionCastOp.create(operands=[like]): use for use in users}


def _reader(ours: Reader, of_xdsl: Reader) -> Reader:
    def both(*arguments: Any, **named: Any) -> ModuleOp:
        if _has_bytes(arguments[1]):  # which xDSL takes for strings in other cases
            return ours(*arguments)
        found, module = read(ours, *arguments)  # first: resources get other names the second time
        expected, _ = read(of_xdsl, *arguments)
        _compare("reading", _without_handles(expected), _without_handles(found))
        return ours(*arguments) if module is None else module

    return both


_has_bytes = re.compile(r"[^\x00-\x7f]|\\[89A-Fa-f][0-9A-Fa-f]").search


def _without_handles(text: str) -> str:
    """Return a description without the numbers that resources get when they are read again."""
    return re.sub(r"dense_resource<\w+>", "dense_resource<>", text)


def _printer(ours: type[NamingPrinter], of_xdsl: type[NamingPrinter]) -> type[NamingPrinter]:
    class Printer(ours):
        """Our printer, which lets a plain one of the same style print each outermost op, too."""

        _plain: NamingPrinter | None = None

        def print_op(self, op: Operation) -> None:
            plain_class: Any = vars(type(self)).get("plain")
            if self.pieces is not None or plain_class is None or cast(Any, self).style.value_users:
                return super().print_op(op)
            if (plain := self._plain) is None:
                plain = self._plain = cast(NamingPrinter, plain_class(None, cast(Any, self).style))
            plain.stream, stream = StringIO(), self.stream
            self.stream = found = StringIO()
            try:
                super().print_op(op)
                plain.print_op(op)
            finally:
                self.stream = stream
                print(found.getvalue(), end="", file=stream)
            _compare("printing", plain.stream.getvalue(), found.getvalue())

    return Printer


def _verifier(ours: Verifier, of_xdsl: Verifier) -> Verifier:
    def both(verifier: Check, without: type[OpTrait] | None) -> OpChecks:
        found, expected = ours(verifier, without), of_xdsl(verifier, None)
        if not found.by_signature or without is not None:
            return found

        def check(checks: Sequence[Check]) -> Check:
            def run(op: Operation) -> None:
                error = _error(checks, op)
                _compare("verifying", str(_error(expected.all, op)), str(error))
                if error is not None:
                    raise error

            return run

        return OpChecks(True, (check(found.all),), (check(found.others),))

    return both


def _error(checks: Sequence[Check], op: Operation) -> Exception | None:
    try:
        for check in checks:
            check(op)
    except VerifyException as error:
        return error
    return None


def _pattern_reader(ours: PatternReader, of_xdsl: PatternReader) -> PatternReader:
    other = UnregisteredOp.with_name("passline.unknown").create()
    Block([other])

    def both(pattern: RewritePattern) -> OpClass:
        if (found := ours(pattern)) is not Operation and not isinstance(other, found):
            pattern.match_and_rewrite(other, rewriter := PatternRewriter(other))
            _compare("rewriting", "nothing", "a rewrite" if rewriter.has_done_action else "nothing")
        return found

    return both
