"""The page of a record: whole, without references to a network, and with everything escaped."""

from __future__ import annotations

import base64
import json
import re
import tomllib
import zlib
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from support.passes.records import record_of
from support.passes.toy import Append, Fail, Nothing, Tag

from passline.passmanager.report.page import render_page

REPORT = Path(__file__).parents[4] / "passmanager" / "report"
EVIL = "</script><script>alert(1)</script><!--"


class Elements(HTMLParser):
    """The scripts of a page: attributes and content of each; and all names of elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._open: dict[str, str | None] | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self._open = dict(attrs) if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.scripts.append((self._open, data))
            self._open = None


def unpacked(page: str) -> dict[str, Any]:
    """Return the data in the inert elements of a page, by id."""
    return {
        attributes["id"] or "": json.loads(zlib.decompress(base64.b64decode(content)))
        for attributes, content in Elements(page).scripts
        if attributes.get("type") == "text/plain"
    }


def test_page_has_all_of_the_record() -> None:
    record = record_of(Append(), Nothing(), Tag(), Fail())
    data = unpacked(render_page(record))
    assert data.pop("events")["events"] == record.events
    assert data == {
        f"ir-{hash}": {"text": event["text"], "ops": event["ops"]}
        for hash, event in record.texts.items()
    }


def test_title_is_that_of_the_record_or_another() -> None:
    record = record_of(Nothing())
    assert "<title>toy.mlir</title>" in render_page(record)
    page = render_page(record, EVIL)
    assert "<title>&lt;/script&gt;" in page and EVIL not in page


def test_nothing_in_a_record_can_end_a_script() -> None:
    plain, evil = record_of(Append("x")), record_of(Append(EVIL))
    evil.title = EVIL
    page = render_page(evil)
    assert "alert(1)" not in page.replace("&lt;script&gt;alert(1)", "")
    assert EVIL in str(unpacked(page))
    attributes = [a for a, _ in Elements(page).scripts if a.get("type") != "text/plain"]
    expected = [a for a, _ in Elements(render_page(plain)).scripts if a.get("type") != "text/plain"]
    assert len(attributes) == len(expected) == 5
    assert Elements(page).names == Elements(render_page(plain)).names


def test_scripts_run_by_a_nonce_that_the_record_decides() -> None:
    def nonces(page: str) -> set[str | None]:
        scripts = Elements(page).scripts
        return {a.get("nonce") for a, _ in scripts if a.get("type") != "text/plain"}

    one, other = render_page(record_of(Append("x"))), render_page(record_of(Append("y")))
    (nonce,), (different,) = nonces(one), nonces(other)
    assert nonce and nonce != different
    assert f"script-src 'nonce-{nonce}'" in one and "default-src 'none'" in one


def test_page_refers_to_no_other_file() -> None:
    page = render_page(record_of(Nothing()))
    own = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)=|url\(", own)
    assert Elements(page).names.isdisjoint({"link", "img", "iframe", "base", "object", "embed"})
    assert "sourceMappingURL" not in page


def test_same_record_gives_the_same_page() -> None:
    record = record_of(Append())
    assert render_page(record) == render_page(record)


# Libraries


def test_vendored_files_are_those_that_were_fetched() -> None:
    vendor = REPORT / "vendor"
    lines = (vendor / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    for name, digest in sums.items():
        assert sha256((vendor / name).read_bytes()).hexdigest() == digest, name
    rest = {"SHA256SUMS", "manifest.toml", "fetch.py"}
    assert {file.name for file in vendor.iterdir() if file.is_file()} == {*sums, *rest}


def test_each_library_has_a_version_and_its_licence() -> None:
    manifest = tomllib.loads((REPORT / "vendor" / "manifest.toml").read_text())
    for library in manifest["library"]:
        assert re.fullmatch(r"\d+\.\d+\.\d+", library["version"])
        files: dict[str, str] = library["files"]
        (licence,) = [name for name in files.values() if name.endswith(".LICENSE")]
        assert "Copyright" in (REPORT / "vendor" / licence).read_text()
        assert library["licence"] in ("MIT", "BSD-3-Clause")
