"""The extension for VS Code: its grammar is that of the tokens, its commands the server's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from passline.passmanager.ir.text.highlight import MLIR_TOKENS

EXTENSION = Path(__file__).parents[4] / "editors" / "vscode"


def test_the_grammar_is_made_of_the_table_of_tokens() -> None:
    """`python editors/vscode/make_extension.py grammar` writes it anew."""
    grammar = json.loads((EXTENSION / "syntaxes" / "mlir.tmLanguage.json").read_text())
    tokens = [text for text, kind in MLIR_TOKENS if kind not in ("Text.Whitespace", "Punctuation")]
    assert [pattern["match"] for pattern in grammar["patterns"]] == tokens


def test_the_files_that_the_package_names_exist_and_its_lock_has_its_packages() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    contributed = package["contributes"]
    paths = [
        package["main"],
        *(grammar["path"] for grammar in contributed["grammars"]),
        *(language["configuration"] for language in contributed["languages"]),
    ]
    assert [path for path in paths if not (EXTENSION / path).is_file()] == []
    lock = json.loads((EXTENSION / "package-lock.json").read_text())
    assert lock["packages"][""]["dependencies"] == package["dependencies"]
    assert lock["version"] == package["version"]


def test_the_commands_of_the_package_are_registered() -> None:
    package = json.loads((EXTENSION / "package.json").read_text())
    client = (EXTENSION / "extension.js").read_text()
    for command in package["contributes"]["commands"]:
        assert f'"{command["command"]}"' in client


def test_the_server_starts_with_the_options_that_the_client_gives() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "passline.tools.lsp.lsp_tool", "--stdio", "--tool=no-such-tool"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "no command 'no-such-tool' is installed" in done.stderr
