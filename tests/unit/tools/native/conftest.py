"""The processors for which tests compile."""

from __future__ import annotations

import pytest

from passline.tools.native import function
from passline.tools.native.jit import host_machine, load_llvm, target_machine


@pytest.fixture(params=["host", "generic"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Compile for this processor, or for a generic one, which has only the features common to
    its family: for x86-64, no fused multiply-add."""
    triple = load_llvm().get_default_triple()
    machine = target_machine(triple, "generic") if request.param == "generic" else host_machine()
    monkeypatch.setattr(function, "host_machine", lambda: machine)
    return request.param
