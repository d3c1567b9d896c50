"""The frontend of ONNX models without the package onnx."""

from __future__ import annotations

from passline.compiler.frontends.onnx_frontend import package_of


def test_modules_of_other_packages() -> None:
    assert package_of("google.protobuf") == package_of("google") == "onnx"
    assert package_of("llvmlite.binding") == "llvmlite"
