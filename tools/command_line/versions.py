"""The text of --version."""

from __future__ import annotations

from ... import __version__
from ...passmanager.fast.acceleration import acceleration_text
from ...passmanager.releases.release import unknown_release, xdsl_version

__all__ = ["version_text"]


def version_text(program: str) -> str:
    """Return the versions of Passline and xDSL for `program`, and how they fit together."""
    lines = [f"{program}: Passline {__version__}, built on xDSL {xdsl_version()}"]
    if (unknown := unknown_release()) is not None:
        lines.append(f"{unknown}: please report what differs")
    return "\n".join([*lines, acceleration_text()])
