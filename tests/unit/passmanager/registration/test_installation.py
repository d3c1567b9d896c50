"""Hints at what to install: for a wheel, for a clone."""

from __future__ import annotations

import json
from importlib import metadata

import pytest

from passline.passmanager.registration.installation import install_hint


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
