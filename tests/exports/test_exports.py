"""Models that exporters wrote, on numpy and as machine code, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import pytest
from exports.exported import WAYS, Exported, exported_models
from support.native.needs_llvmlite import needs_native

from passline.passmanager.errors import PasslineError

pytestmark = [pytest.mark.exports, needs_native]

REFUSED = {
    line.partition(": ")[0]: line.partition(": ")[2]
    for line in (Path(__file__).parent / "refused.txt").read_text().splitlines()
}
"""A model, and the way if it is one only -> a part of the message with which it is refused."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", exported_models(), ids=lambda model: model.name)
def test_results(model: Exported, way: str) -> None:
    if not model.is_open and way == "machine code, unknown sizes":
        pytest.skip("all sizes are known")
    reason = REFUSED.get(model.name) or REFUSED.get(f"{model.name} ({way})")
    if reason is not None:
        with pytest.raises(PasslineError, match=reason):
            WAYS[way](model)
        return
    assert model.difference(WAYS[way](model)) == ""
