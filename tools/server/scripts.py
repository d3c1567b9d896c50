"""Which commands are Python tools of this environment."""

from __future__ import annotations

import os
import shutil
import sys


class PythonTool:
    """A Python tool: a script, or a module that is run as by `python -m`, and its `sys.argv`."""

    def __init__(self, script: str, module: str, arguments: list[str]) -> None:
        self.script = script
        self.module = module
        self.arguments = arguments


_interpreters: dict[tuple[str, str | None], str | None] = {}
"""The interpreters of scripts that were looked at, by path and search path."""


def python_tool(
    executable: str, arguments: list[str], search: str | None = None
) -> PythonTool | None:
    """Return the Python tool that a command runs in this environment, or None.

    `executable` is a path, or a name that is looked for in `search` (PATH). `arguments` has the
    name of the command first.
    """
    if "/" not in executable:
        executable = shutil.which(executable, path=search) or executable
    if _is_ours(executable):
        match arguments[1:]:
            case ["-m", module, *rest]:
                return PythonTool("", module, [module, *rest])
            case [script, *rest] if script.endswith(".py"):
                return PythonTool(script, "", [script, *rest])
            case _:
                return None
    if (known := (executable, search)) not in _interpreters:
        _interpreters[known] = interpreter_of(executable, search)
    if (interpreter := _interpreters[known]) is not None and _is_ours(interpreter):
        return PythonTool(executable, "", [executable, *arguments[1:]])
    return None


def interpreter_of(path: str, search: str | None = None) -> str | None:
    """Return the interpreter that the first line of a script names, or None.

    `#!/usr/bin/env` looks for it in `search`.
    """
    try:
        with open(path, "rb") as file:
            first, second = file.readline(512), file.readline(512)
    except OSError:
        return None
    words = os.fsdecode(first).split()
    if words == ["#!/bin/sh"] and second.startswith(b"'''exec' "):  # of pip, for long paths
        words = ["#!" + os.fsdecode(second).split()[1].strip('"')]
    match words:
        case [word] if word.startswith("#!"):
            return word[2:]
        case ["#!/usr/bin/env", word]:
            return shutil.which(word, path=search)
        case _:
            return None


def _is_ours(interpreter: str) -> bool:
    """Return whether a path is one of the names of the interpreter of this environment."""
    return (
        os.path.dirname(interpreter) == os.path.dirname(sys.executable)
        and os.path.basename(interpreter).startswith("python")
        and os.path.realpath(interpreter) == os.path.realpath(sys.executable)
    )
