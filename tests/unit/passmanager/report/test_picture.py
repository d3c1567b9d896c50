"""The picture of the report in the README: what it shows is what a run gives."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support.suites.inprocess import passline_opt
from support.tables import table_test

from passline.passmanager.report.record_reader import Record, read_record

ASSETS = Path(__file__).parents[4] / "docs" / "assets"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return the record of ResNet-50 at -O3."""
    onnx = pytest.importorskip("onnx")
    model = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
    folder = tmp_path_factory.mktemp("picture")
    file, out = folder / "run.jsonl", folder / "resnet50.mlir"
    # Without the example of a plugin, which is installed where tests run.
    options = ("-O3", "--no-plugins-in-pipelines", f"--record={file}", "-o", str(out))
    assert passline_opt(str(model), *options).status == 0
    return read_record(file.read_text().splitlines())


def shown() -> dict[str, Any]:
    """Return the counts that were on the page when the picture was made."""
    return json.loads((ASSETS / "report.json").read_text())


def test_counts_are_those_of_a_run(record: Record) -> None:
    begins = record.begins()
    ends = [event for event in record.events if event["event"] == "end"]
    leaves = [event for event in ends if not begins[event["pass"]]["composite"]]
    counted = [e["counts"] for e in record.events if "counts" in e]
    end = next(e for e in reversed(leaves) if begins[e["pass"]]["name"] == shown()["pass"])
    before: Counter[str] = Counter(counted[counted.index(end["counts"]) - 1])
    after: Counter[str] = Counter(end["counts"])
    assert {key: value for key, value in shown().items() if key != "sha256"} == {
        "model": record.title,
        "passes": len(leaves),
        "changed": sum(event["changed"] for event in leaves),
        "pass": "fuse-ops",
        "place": record.places()[end["pass"]],
        "ops": after.total(),
        "growth": after.total() - before.total(),
        "fused": end["counters"]["fused"],
        "differences": {
            name: after[name] - before[name]
            for name in before | after
            if after[name] != before[name]
        },
    }


@table_test("page", ["README.md", "docs/index.md"])
def test_text_of_the_picture_has_its_counts(page: str) -> None:
    text = (ASSETS.parents[1] / page).read_text(encoding="utf-8")
    counts = "{passes} passes with their times, of which {changed} changed the IR".format(**shown())
    assert f"-O3: {counts}; the changes of {shown()['pass']};" in text


def test_counts_belong_to_the_picture() -> None:
    assert shown()["sha256"] == sha256((ASSETS / "report.png").read_bytes()).hexdigest()
