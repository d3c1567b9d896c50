"""Functions that options of passes name, as `what=package.module:function`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from xdsl.context import Context
from xdsl.utils.exceptions import PassFailedException

from ..passmanager.names import did_you_mean


def read_functions(
    entries: Iterable[str], kind: str, example: str, check: Callable[[str], None]
) -> dict[str, Callable[..., object]]:
    """Import the functions of entries `what=module:function`, by what stands before the `=`, which
    `check` refuses if nothing has that name.

    PassFailedException for an invalid entry; the message has the `kind` of the entry, and an
    `example` of what stands before the `=`, such as "an operation, as relax.exp".
    """
    found: dict[str, Callable[..., object]] = {}
    for entry in entries:
        name, _, place = entry.partition("=")
        module, _, function = place.partition(":")
        if not function:
            what, _, text = example.rpartition(", as ")
            raise PassFailedException(
                f"{kind} '{entry}': expected {what} and a function, as "
                f"'{text}=package.module:function'"
            )
        check(name)
        try:
            found[name] = getattr(import_module(module), function)
        except (ImportError, AttributeError) as error:
            raise PassFailedException(f"{kind} '{entry}': {error}") from None
    return found


def check_name(name: str, known: Iterable[str], kind: str, what: str) -> None:
    """Raise PassFailedException, with the nearest known name, unless `name` is known; `what` it is,
    such as "pattern"."""
    candidates = [*known]
    if name not in candidates:
        hint = did_you_mean(name, candidates)
        raise PassFailedException(f"{kind} '{name}': unknown {what} '{name}'{hint}")


def operation_check(kind: str, ctx: Context) -> Callable[[str], None]:
    """Return a function that raises PassFailedException, with the nearest name, unless a name is
    that of an operation of a dialect that `ctx` knows."""

    def check(name: str) -> None:
        if ctx.get_optional_op(name) is None:
            check_name(name, [cls.name for cls in ctx.loaded_ops], kind, "operation")

    return check
