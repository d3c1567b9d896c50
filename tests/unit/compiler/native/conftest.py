"""The processors for which tests compile."""

from __future__ import annotations

import pytest

from passline.compiler.native import function
from passline.compiler.native.jit import load_llvm, machine_of, target_machine
from passline.dialects.target import Target, host


@pytest.fixture(params=["host", "generic"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Compile for this processor, or for a generic one, which has only the features common to
    its family: for x86-64, no fused multiply-add."""
    triple = load_llvm().get_default_triple()
    is_generic = request.param == "generic"
    machine = target_machine(triple, "generic") if is_generic else machine_of(host())

    def machine_of_any(_: Target) -> object:
        return machine

    monkeypatch.setattr(function, "machine_of", machine_of_any)
    return request.param
