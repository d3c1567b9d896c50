"""The commands that install missing packages: for a wheel, for a clone; and who is told."""

from __future__ import annotations

import json
from importlib import import_module, metadata
from importlib.util import find_spec

import pytest
from support.missing import hide

from passline.passmanager import NotInstalledError, PasslineError
from passline.passmanager.errors import install_hint, report_missing


class Distribution:
    """A distribution with a `direct_url.json`, or none."""

    def __init__(self, url: object) -> None:
        self._text = None if url is None else json.dumps(url)

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._text


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        (None, "pip install 'passline[onnx]'"),
        ({"url": "file:///x", "dir_info": {}}, "pip install 'passline[onnx]'"),
        ({"url": "file:///x", "dir_info": {"editable": True}}, "pip install -e '.[onnx]'"),
    ],
)
def test_the_hint_works_where_it_is_given(
    url: object, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def distribution(name: str) -> Distribution:
        assert name == "passline"
        return Distribution(url)

    monkeypatch.setattr(metadata, "distribution", distribution)
    assert install_hint("onnx") == hint


NEEDS = [
    "xdsl>=0.59",
    'passline[compiler]; extra == "onnx"',
    'numpy>=2; extra == "compiler"',
    'intel-openmp>=1; extra == "threads"',
    'numpy; python_version > "3" and extra == "late"',
]


@pytest.mark.parametrize(
    ("module", "extra"),
    [("numpy", "compiler"), ("numpy.linalg", "compiler"), ("intel_openmp", "threads")],
)
def test_the_extra_of_a_package_is_that_of_the_metadata(
    module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: NEEDS)  # pyright: ignore
    with pytest.raises(NotInstalledError) as caught:
        report_missing(module)
    package = module.partition(".")[0]
    assert str(caught.value) == f"{package} is not installed: {install_hint(extra)}"
    assert caught.value.name == module
    assert isinstance(caught.value, PasslineError) and isinstance(caught.value, ModuleNotFoundError)


@pytest.mark.parametrize("module", ["xdsl", "passline.gone", "nothing"])
def test_a_module_of_no_extra_is_left_to_python(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "requires", lambda name: NEEDS)  # pyright: ignore
    report_missing(module)


def test_a_clone_that_is_not_installed_has_no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    def requires(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    report_missing("numpy")


def test_an_import_of_ours_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "numpy")
    with pytest.raises(NotInstalledError, match=r"^numpy is not installed: pip install .*compiler"):
        exec("import numpy.linalg", {"__name__": "passline.anything"})


def test_an_import_of_another_project_fails_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "numpy")
    with pytest.raises(ModuleNotFoundError, match="^No module named 'numpy'$"):
        import_module("numpy")
    assert find_spec("numpy") is None
