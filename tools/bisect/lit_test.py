"""The lit test that a bisection ends with: it fails until the fault is mended."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import cast

from ...passmanager.context import PassContext
from ...passmanager.output.files import replace_file
from ...passmanager.registration.names import name_key
from ...passmanager.registry import installed
from ..trials.interestingness import with_place

__all__ = ["command_in_test", "command_line", "free_file", "save_test"]


def command_line(
    args: argparse.Namespace, context: PassContext, pipeline: str, checks: Iterable[str]
) -> str:
    """Return the `passline-opt` command that runs `pipeline` on `%s`, with the options `checks`."""
    words = ["passline-opt", "%s", "-p", pipeline]
    if context.opt_level <= 3:
        words.append(f"-O{context.opt_level}")
    if context.disabled_pass:
        words.append(f"--disable-pass={','.join(context.disabled_pass)}")
    words += [f"--config={text}" for text in _settings(context)]
    words += [f"--load={os.path.abspath(file)}" for file in args.load]
    for option in ("allow_unregistered_dialect", "disable_verify", "verify_preserves"):
        if getattr(args, option):
            words.append(f"--{option.replace('_', '-')}")
    if not args.verify_each:
        words.append("--no-verify-each")
    for option in checks:
        if value := getattr(args, option, None):
            flag = f"--{option.replace('_', '-')}"
            words.append(flag if value is True else f"{flag}={value}")
    return " ".join([words[0], "%s", *map(lit_word, words[2:])])


def lit_word(word: str) -> str:
    """Quote a word for the shell of a RUN line, in which lit replaces what begins with `%`."""
    return shlex.quote(word).replace("%", "%%")


def command_in_test(words: Sequence[str], directory: Path) -> str:
    """Return the RUN line for a command, with `%t.mlir` for `{}` and paths from `directory`."""
    return " ".join(_command_word(word, directory) for word in with_place(words))


def _command_word(word: str, directory: Path) -> str:
    if os.sep in word and not os.path.isabs(word) and os.path.exists(word):
        path = os.path.relpath(os.path.realpath(word), os.path.realpath(directory))
        return f"%S/{lit_word(path)}"
    return "%t.mlir" if word == "{}" else lit_word(word).replace("{}", "%t.mlir")


def _settings(context: PassContext) -> Iterator[str]:
    """Yield the options that belong to no pass; those of passes are in the pipeline."""
    for key, value in context.config.items():
        if name_key(key) in installed().names:
            continue
        fields = getattr(value, "__dataclass_fields__", None)
        if fields is None:
            yield f"{key}={_text(value)}"
        else:
            yield from (f"{key}.{field}={_text(getattr(value, field))}" for field in fields)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    return ",".join(map(str, items))


def free_file(directory: Path, name: str) -> Path:
    """Return a file in `directory` that does not exist: `name.mlir`, `name-2.mlir` and so on."""
    names = (f"{name}.mlir" if n == 1 else f"{name}-{n}.mlir" for n in count(1))
    return next(path for each in names if not (path := directory / each).exists())


def save_test(
    file: Path, run_lines: Iterable[str], title: str, module: str, check_lines: Iterable[str]
) -> None:
    """Write a lit test."""
    comments = [*(f"RUN: {line}" for line in run_lines), *title.splitlines(), *check_lines]
    text = "".join(f"// {line}".rstrip() + "\n" for line in comments)
    replace_file(file, [f"{text}\n{module.strip()}\n"])
