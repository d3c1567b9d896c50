"""Highlighted IR and diffs: the kinds of tokens, all of the text, escaped."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from support.tables import table_test

from passline.passmanager.ir.text.highlight import highlighted

FILES = sorted((Path(__file__).parents[4] / "filecheck" / "passes").rglob("*.mlir"))


@table_test(
    ("text", "kind"),
    [
        ("relax.nn.conv2d", "k"),
        ("%arg0", "nv"),
        ("%0:2", "nv"),
        ("%0#1", "nv"),
        ("@main", "nf"),
        ("^bb0", "nl"),
        ("!test.type", "kt"),
        ("#map", "kt"),
        ("tensor", None),
        ("bf16", "kt"),
        ("index", "kt"),
        ("-1.5e+02", "mf"),
        ("0x7FC00000", "mh"),
        ("42", "mi"),
        ('"a \\" b"', "s"),
        ("// comment", "c"),
        ("true", None),
    ],
)
def test_kinds_of_tokens(text: str, kind: str | None) -> None:
    page = highlighted(text)
    found = re.match(r'<pre><span class="(\w+)">(.*)</span></pre>$', page)
    assert (found[1] if found else None) in (kind, "n" if kind is None else kind), page


def test_shape_is_apart_from_its_element_type() -> None:
    page = highlighted("tensor<4x?x8xf32>")
    assert '<span class="mi">4x?x8x</span><span class="kt">f32</span>' in page


@table_test("file", FILES[::8])
def test_no_text_is_lost(file: Path) -> None:
    text = file.read_text().strip("\n")
    assert unescape(re.sub(r"<[^>]*>", "", highlighted(text))) == text


def test_diff_has_classes_for_its_lines() -> None:
    page = highlighted("@@ -1 +1 @@\n-a\n+b<c>", "diff")
    assert '<span class="gd">-a</span>' in page and '<span class="gi">+b&lt;c&gt;</span>' in page


def test_in_a_line() -> None:
    assert highlighted("%x", tag="span") == '<span><span class="nv">%x</span></span>'
