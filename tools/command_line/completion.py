"""The completion scripts of shtab, extended to values of options after `=` and to pipelines."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...passmanager.config import config_types
from ...passmanager.errors import PasslineError
from .argument_parser import OptionalValue

SHELLS = ("bash", "zsh", "fish")
_PASSES = "_passline_passes"
_PASS_LISTS = ("PIPELINE", "NAME", "NAME,...")

_ADVICE = re.compile(r"^# Usage:\n(#.*\n)*", re.MULTILINE)
"""Where shtab says to put a script, which is another place than the documentation says."""

_PREAMBLES = {
    "bash": _PASSES
    + r"""() {
  local before="${1%"${1##*[,(]}"}"
  compgen -P "$before" -W "NAMES" -- "${1#"$before"}"
}""",
    "zsh": _PASSES
    + r"""() {
  compset -P '*[,(]'
  compadd -S '' -- NAMES
}""",
    "fish": "function "
    + _PASSES
    + r"""
  set -l word (string replace -r -- '^--[^=]*=' '' (commandline -ct))
  set -l before (string match -r -- '^.*[,(]' $word; or echo)
  for name in NAMES
    echo $before$name
  end
end""",
}
"""Functions that complete the last pass of a pipeline."""

# bash breaks words at `=`: `--timing=tree` are three, and so is `a{x=1},b`.
_BASH_WORDS = r"""
_FUNCTION_words() {
  local -a words=()
  local i word
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if [[ $word == "=" ]]; then
      [[ ${words[${#words[@]}-1]} == --* ]] || unset "words[${#words[@]}-1]"
      if ((i == COMP_CWORD)); then words+=(""); fi
    elif ((i < COMP_CWORD)) && [[ " OPTIONAL " == *" $word "* && ${COMP_WORDS[i+1]} != "=" ]]; then
      continue
    else
      words+=("$word")
    fi
  done
  COMP_WORDS=("${words[@]}")
  COMP_CWORD=$((${#words[@]} - 1))
  FUNCTION
}
"""


def completion(
    parser: argparse.ArgumentParser, shell: str, offers: Mapping[str, Sequence[str]]
) -> str:
    """Return the completion script for a shell; `offers` has passes and values of options."""
    _describe(parser, offers)
    return _script(parser, shell, offers["passes"])


def completion_of_all(
    parsers: Mapping[str, argparse.ArgumentParser],
    shell: str,
    offers: Mapping[str, Sequence[str]],
) -> str:
    """Return a script that completes the command `passline` with the commands below it."""
    root = argparse.ArgumentParser("passline")
    commands = root.add_subparsers()
    for name, parser in parsers.items():
        _describe(parser, offers)
        commands.add_parser(name, help=parser.description)
        commands.choices[name] = parser  # pyright: ignore[reportIndexIssue]
    return _script(root, shell, offers["passes"])


def _describe(parser: argparse.ArgumentParser, offers: Mapping[str, Sequence[str]]) -> None:
    """Note in the actions of a parser, which then only serves completion, what their values are."""
    import shtab

    values = {
        **offers,
        "opt_level": "0123",
        "config": [f"{key}=" for key in config_types()],
        "executor": ["processes", "dask:"],
    }
    completers = {"bash": _PASSES, "zsh": _PASSES, "fish": f"({_PASSES})"}
    for action in _actions(parser):
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if metavar in _PASS_LISTS and action.dest not in ("filter_function", "frontend", "name"):
            setattr(action, "complete", completers)
        elif metavar.startswith("FILE") or action.dest == "input_file":
            setattr(action, "complete", shtab.FILE)
        elif metavar == "DIR":
            setattr(action, "complete", shtab.DIRECTORY)
        elif action.dest in values and action.nargs != 0:
            action.choices = [*values[action.dest]]


def _script(parser: argparse.ArgumentParser, shell: str, passes: Sequence[str]) -> str:
    """Return the script of shtab, with the values of options after `=`."""
    import shtab

    if shell not in shtab.SUPPORTED_SHELLS:
        raise PasslineError(f"the installed shtab has no completion for {shell}: update it")
    # `passline opt` is completed as `passline-opt`: the name of a command has no space.
    parser.prog = parser.prog.replace(" ", "-")
    preamble = _PREAMBLES[shell].replace("NAMES", " ".join(passes))
    script = shtab.complete(parser, shell, preamble=preamble)
    script = _ADVICE.sub("", script)
    actions = [*_nested(parser)]
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](script, actions)


def _bash(script: str, actions: Iterable[argparse.Action]) -> str:
    optional = [o for a in actions if isinstance(a, OptionalValue) for o in a.option_strings]
    registration = re.compile(r"^complete (.*) -F (\S+) (\S+)$", re.MULTILINE)
    found = registration.search(script)
    assert found is not None
    words = _BASH_WORDS.replace("OPTIONAL", " ".join(dict.fromkeys(optional)))
    words = words.replace("FUNCTION", found[2])
    return registration.sub(rf"{words.strip()}\n\ncomplete \1 -F _\2_words \3", script)


def _zsh(script: str, actions: Iterable[argparse.Action]) -> str:
    """Let the value of an option follow in the same word, as zsh's `_arguments` spells that."""
    for action in actions:
        options = action.option_strings
        if not options or action.nargs == 0:
            continue
        long = "=-" if isinstance(action, OptionalValue) else "="
        marked = [f"{o}{long if o.startswith('--') else '+'}" for o in options]
        before, after = ",".join(options), ",".join(marked)
        script = script.replace(f'{{{before}}}"[', f'{{{after}}}"[')
        script = re.sub(rf'"(\*?){re.escape(before)}\[', rf'"\g<1>{after}[', script)
    return script


def _fish(script: str, actions: Iterable[argparse.Action]) -> str:
    for action in actions:
        if isinstance(action, OptionalValue):
            name = action.option_strings[0][2:]
            script = script.replace(f" -l {name} -x", f" -l {name} -f")
    return script


def _nested(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the actions of a parser and of those below it."""
    for action in _actions(parser):
        yield action
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            for inner in action.choices.values():  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
                yield from _actions(inner)  # pyright: ignore[reportUnknownArgumentType]


def _actions(parser: argparse.ArgumentParser) -> Sequence[argparse.Action]:
    return parser._actions  # pyright: ignore[reportPrivateUsage]
