"""What a test needs of the installed xDSL: a release, or an accelerated part.

A test says so by a mark, or, if it is one of many that a generator makes, by the error with which
an old xDSL refuses what it lacks (`lack_in`).
"""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType
from typing import cast

import pytest
from xdsl import __version__
from xdsl.dialects.builtin import BFloat16Type

from passline.passmanager.fast.acceleration import is_accelerated

__all__ = [
    "has_xdsl",
    "lack_in",
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


_LACKS = (
    (
        "0.60",
        r"Operation (memref\.alloca|memref\.dim) does not have a custom format",
        "the custom form of `memref.alloca` and `memref.dim`",
    ),
    (
        "0.70",
        r"Operation affine\.for does not have a custom format",
        "the custom form of `affine.for`",
    ),
    (
        "0.75",
        r"Operation memref\.alloca_scope does not have a custom format",
        "the custom form of `memref.alloca_scope`",
    ),
    ("0.67", r"Unexpected attribute vector<\d+x(bf16|f\d+)>", "conversions of vectors of floats"),
    (
        "0.66",
        r"Operation llvm\.[\w.]+ does not have a custom|operation 'llvm\.[\w.]+' is not registered",
        "operations of the dialect llvm, and custom forms of them",
    ),
    ("0.64", r"Cannot print '.*' value for float type bf16", "text of infinities of bf16"),
    ("0.64", r"Unexpected attribute bf16", "arithmetic on vectors of bf16"),
    ("0.64", r"constants of bf16 (are not supported|need xDSL)", "dense constants of bf16"),
    ("0.67", r"f[468]E\d+M\d+[\s\S]*Expected shape type", "floats of at most 8 bits"),
    ("0.67", r"element type FLOAT\dE\w+ is not supported", "floats of at most 8 bits"),
    ("0.64", r"NotImplementedError: (?:'|$|\(\) in BFloat16Type)", "dense constants of bf16"),
)
"""Since which release xDSL has something, the error for it before, and what it is."""


def lack_in(error: BaseException) -> str | None:
    """Return what the installed xDSL lacks, if that is what an error says; else None. A group of
    errors says so if all of them do."""
    if isinstance(error, ExceptionGroup):
        group = cast("ExceptionGroup[Exception]", error)
        lacks = [lack_in(inner) for inner in group.exceptions]
        return lacks[0] if None not in lacks else None
    text = f"{error}"
    if isinstance(error, NotImplementedError) and _is_of_bf16(error.__traceback__):
        text = "NotImplementedError: () in BFloat16Type"
    for release, pattern, lack in _LACKS:
        if not has_xdsl(release) and re.search(pattern, text):
            return f"needs xDSL {release}: {lack}"
    return None


def _is_of_bf16(traceback: TracebackType | None) -> bool:
    """Return whether the innermost frame is a method of xDSL's type bf16."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and isinstance(
        traceback.tb_frame.f_locals.get("self"), BFloat16Type
    )
