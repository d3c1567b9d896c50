"""The values of --target: output formats, which are xDSL's targets, and processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from ..passmanager.errors import PasslineError
from ..passmanager.ir.location import place_of
from ..passmanager.registration.names import did_you_mean
from ..passmanager.releases.targets import MLIRTarget
from .specs import check_spec, name_in

__all__ = ["check_processor", "check_target", "unprintable"]


def check_processor(text: str, processors: Sequence[str]) -> None:
    """Raise PasslineError if `text`, a processor with its options, names none of `processors`."""
    if (name := name_in(text)) not in processors:
        hint = did_you_mean(name, processors) or f"; choose from {', '.join(processors)}"
        raise PasslineError(f"there is no target '{name}'{hint}")


def unprintable(target: str, module: ModuleOp, error: Exception) -> PasslineError:
    """Return the error for a module that a target of xDSL's has no text for.

    The targets assert that they know each operation; the text of the assertion starts with it.
    """
    said = str(error).split("\n")[0]
    ops = (
        op for op in module.walk() if said.startswith(f"{type(op).__name__}(") or op.name in said
    )
    what, reason = "the module", said
    if (op := next(ops, None)) is not None:
        what = f"'{op.name}'{place_of(op)}"
        reason = "" if said.endswith("(") else said
    because = f": {reason}" if reason else "; lower it to the operations of the target first"
    return PasslineError(f"target '{target}' cannot print {what}{because}")


def check_target(text: str, targets: Mapping[str, object], others: Sequence[str]) -> None:
    """Raise PasslineError if `text`, a target with its options, does not name one of `targets`, or
    one that cannot be made; `others` are further names for the message."""
    check_spec("target", text, targets, MLIRTarget, others=others)
