"""The server in a real editor: Neovim without a screen, set up as the page on editors says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="needs neovim")

PAGE = Path(__file__).parents[4] / "docs" / "howto" / "editors.md"
TEXT = """func.func @f(%a : i32) -> i32 {
  %zero = arith.constant 0 : i32
  %b = arith.addi %a, %zero : i32
  return %b : i32
}
"""

BEFORE = """
-- Neovim 0.7 has the parts of `vim.lsp.start` alone, and looks for file types in another way.
vim.g.do_filetype_lua = 1
vim.lsp.start = vim.lsp.start or function(config)
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(config))
end
"""

AFTER = """
vim.cmd("edit " .. FILE)
local found = {}
local function wait(holds) assert(vim.wait(60000, holds, 20), "nothing came") end
local function ask(method, params)
  params.textDocument = { uri = vim.uri_from_bufnr(0) }
  local answer = vim.lsp.buf_request_sync(0, method, params, 60000)
  for _, each in pairs(answer or {}) do return each.result end
end
wait(function() return next(vim.lsp.buf_get_clients(0)) ~= nil end)
wait(function() return ask("textDocument/hover", { position = { line = 1, character = 3 } }) end)
found.hover = ask("textDocument/hover", { position = { line = 1, character = 3 } })
found.before = #vim.diagnostic.get(0)
vim.api.nvim_buf_set_text(0, 2, 7, 2, 17, { "arith.adi" })
wait(function() return #vim.diagnostic.get(0) > 0 end)
found.error = vim.diagnostic.get(0)[1].message
vim.api.nvim_buf_set_text(0, 2, 7, 2, 16, { "arith.addi" })
wait(function() return #vim.diagnostic.get(0) == 0 end)
local place = { start = { line = 2, character = 3 }, ["end"] = { line = 2, character = 3 } }
local actions = ask("textDocument/codeAction", { range = place, context = { diagnostics = {} } })
found.actions = vim.tbl_map(function(action) return action.title end, actions)
vim.lsp.buf.execute_command(actions[1].command)
wait(function() return vim.api.nvim_buf_line_count(0) < 5 end)
found.lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
io.stdout:write(vim.json and vim.json.encode(found) or vim.fn.json_encode(found))
vim.cmd("qa!")
"""


def neovim(folder: Path) -> dict[str, Any]:
    """Return what Neovim says after the steps of `AFTER`."""
    file = folder / "x.mlir"
    file.write_text(TEXT)
    setup = re.search(r"```lua\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert setup is not None
    init, steps = folder / "init.lua", folder / "steps.lua"
    init.write_text(f"{BEFORE}{setup[1]}")
    steps.write_text(f"FILE = {json.dumps(str(file))}\n{AFTER}")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    done = subprocess.run(
        ["nvim", "--headless", "-u", str(init), "-c", f"luafile {steps}", "-c", "qa!"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    start = done.stdout.find("{")
    assert start >= 0, f"{done.stdout}{done.stderr}"
    found, _ = json.JSONDecoder().raw_decode(done.stdout[start:])
    return found


def test_neovim_shows_errors_explains_names_and_runs_a_pass(tmp_path: Path) -> None:
    found = neovim(tmp_path)
    assert found["before"] == 0
    assert "'arith.adi' is not registered, did you mean" in found["error"]
    assert "constant `0 : i32`" in found["hover"]["contents"]["value"]
    assert "Run canonicalize on @f" in found["actions"]
    assert "Show what canonicalize changes in @f" in found["actions"]
    assert found["lines"][:2] == ["func.func @f(%a: i32) -> i32 {", "  func.return %a : i32"]
