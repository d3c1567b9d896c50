"""What a test needs of the installed xDSL: a release, or an accelerated part."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from xdsl import __version__

from passline.compat.acceleration import is_accelerated

__all__ = [
    "has_xdsl",
    "lacking_release",
    "needs_part",
    "needs_xdsl",
    "require_part",
    "without_lacking_chunks",
]


def has_xdsl(release: str) -> bool:
    """Return whether the installed xDSL is this release, such as "0.66", or a newer one."""
    return _numbers(str(__version__)) >= _numbers(release)


def _numbers(release: str) -> tuple[int, ...]:
    if match := re.match(r"\d+(?:\.\d+)*", release):
        return tuple(map(int, match[0].split(".")))
    return (1 << 30,)  # a version without a number is of a checkout of xDSL's main branch


def needs_xdsl(release: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test with an xDSL older than a release; `reason` says what that brought."""
    return pytest.mark.skipif(not has_xdsl(release), reason=f"needs xDSL {release}: {reason}")


def needs_part(part: str) -> pytest.MarkDecorator:
    """Skip a test of what an accelerated part does, such as to do work once, where it is off."""
    return pytest.mark.skipif(not is_accelerated(part), reason=_NOT_ACCELERATED.format(part))


def require_part(part: str) -> None:
    """Skip the running test where a part is not accelerated."""
    if not is_accelerated(part):
        pytest.skip(_NOT_ACCELERATED.format(part))


_NOT_ACCELERATED = "{} is not accelerated: with this xDSL, or by the environment"


def lacking_release(text: str) -> str | None:
    """Return why a FileCheck test with a line `REQUIRES-XDSL: release (reason)` cannot be run, or
    None if it can.

    The line stands for the whole file if it is beside the RUN lines, else for its chunk.
    """
    return _lacking(re.split(r"^(?!//)", text, maxsplit=1, flags=re.MULTILINE)[0])


def without_lacking_chunks(path: Path, folder: Path) -> Path:
    """Return a copy of a FileCheck test below `folder` in which the lines of chunks that need a
    newer xDSL are empty; the test itself if there is none.
    """
    text = path.read_text()
    chunks = re.split(r"(?<=^// -----\n)", text, flags=re.MULTILINE)
    kept = "".join("\n" * c.count("\n") if _lacking(c) is not None else c for c in chunks)
    if kept == text or lacking_release(text) is not None:
        return path
    copy = folder / path.relative_to(path.anchor)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(kept)
    return copy


def _lacking(text: str) -> str | None:
    for match in re.finditer(r"REQUIRES-XDSL: *([0-9.]+) *\((.*)\)", text):
        if not has_xdsl(match[1]):
            return f"needs xDSL {match[1]}: {match[2]}"
    return None
