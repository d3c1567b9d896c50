"""Measure the language server over the protocol: the time from a key to the diagnostics.

python benchmarks/editor.py [LINES] [LINES OF A FUNCTION]    # 2000 and 50

The file has functions of `arith` operations. A key is typed at the end of lines all over it. The
figures are milliseconds of the processor in the server, and on the clock, the median and the worst.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from statistics import median

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

URI = "file:///editor.mlir"
KEYS = 60


def function(number: int, lines: int) -> str:
    """Return a function of some lines."""
    body = [f"func.func @f{number}(%v0 : i32) -> i32 {{"]
    for i in range(1, lines - 2):
        kind = ("addi", "muli", "subi")[i % 3]
        text = f"arith.{kind} %v{i - 1}, %v0" if i % 4 else f"arith.constant {i}"
        body.append(f"  %v{i} = {text} : i32")
    return "\n".join([*body, f"  func.return %v{lines - 3} : i32", "}"])


def processor_seconds(process: int) -> float:
    """Return the time of the processor that a process has used."""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def measure(lines: int, of_function: int) -> None:
    """Print the figures for a file of some lines."""
    client = LanguageClient("editor", "1")  # pyright: ignore[reportUnknownMemberType]
    published: asyncio.Queue[int] = asyncio.Queue()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # pyright: ignore[reportUntypedFunctionDecorator]
    def _published(params: lsp.PublishDiagnosticsParams) -> None:
        published.put_nowait(len(params.diagnostics))

    _ = _published
    await client.start_io(sys.executable, "-m", "passline.tools.lsp.lsp_tool")  # pyright: ignore[reportUnknownMemberType]
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    text = "\n".join(function(n, of_function) for n in range(lines // of_function)) + "\n"
    began = time.perf_counter()
    item = lsp.TextDocumentItem(URI, "mlir", 0, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    assert await published.get() == 0
    opened = time.perf_counter() - began
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as children:
        server = int(children.read().split()[0])
    widths = [len(line) for line in text.split("\n")]
    clock: list[float] = []
    before = processor_seconds(server)
    for key in range(KEYS):
        line = (key * 97 + 5) % (len(widths) - 1)
        place = lsp.Position(line, widths[line])
        widths[line] += 1
        change = lsp.TextDocumentContentChangePartial(lsp.Range(place, place), " ")
        document = lsp.VersionedTextDocumentIdentifier(key + 1, URI)
        began = time.perf_counter()
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))
        assert await published.get() == 0
        clock.append(1000 * (time.perf_counter() - began))
    each = 1000 * (processor_seconds(server) - before) / KEYS
    print(f"{text.count(chr(10))} lines in functions of {of_function}: opened in {opened:.2f} s")
    print(
        f"a key: {each:.1f} ms of the processor; {median(clock):.1f} ms, at worst {max(clock):.1f}"
    )
    await client.shutdown_async(None)
    client.exit(None)


if __name__ == "__main__":
    asyncio.run(measure(*map(int, sys.argv[1:] or ("2000", "50"))))
