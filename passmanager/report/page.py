"""The page of a record: one HTML file with its scripts and data, which needs no network."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from string import Template
from typing import Any

from .recording import Recording

__all__ = ["render_page"]

_SCRIPTS = ("diff.min.js", "uplot.min.js", "dagre.min.js")
"""The libraries that are plain scripts, each with one global name."""

_MODULES = {"highlight.js": "highlight.core.min.js"}
"""The libraries that are modules: name in imports -> file."""


def render_page(recording: Recording, title: str = "") -> str:
    """Return the page as one HTML document, by default with the title in the record.

    Data is compressed and in base64, so that nothing in a record can end a script or a tag. Scripts
    run by a nonce, which depends on all of the data: no record can contain its own.
    """
    texts = "".join(_text_elements(recording))
    events = _packed(_main_data(recording))
    parts = {
        "title": escape(title or recording.title or "Passline"),
        "nonce": sha256((events + texts).encode()).hexdigest()[:32],
        "style": _vendored("uplot.min.css") + _own("style.css"),
        "imports": _import_map(),
        "events": events,
        "texts": texts,
    }
    scripts = "\n".join(
        f'<script nonce="{parts["nonce"]}">{_inline(_vendored(name))}</script>' for name in _SCRIPTS
    )
    return Template(_own("page.html")).substitute(parts, scripts=scripts)


def _main_data(recording: Recording) -> dict[str, Any]:
    """Return all but the texts: the events, and by hash what the page shows of texts unopened."""
    return {
        "events": recording.events,
        "cut_off": recording.cut_off,
        "texts": {
            hash: [event["op"], event["symbol"], event["text"].count("\n") + 1, len(event["ops"])]
            for hash, event in recording.texts.items()
        },
    }


def _text_elements(recording: Recording) -> Iterator[str]:
    """Yield an inert element for each text; the page unpacks it when it is shown."""
    for hash, event in recording.texts.items():
        data = _packed({"text": event["text"], "ops": event["ops"]})
        yield f'<script type="text/plain" id="ir-{escape(hash)}">{data}</script>\n'


def _packed(data: object) -> str:
    return b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 6)).decode()


def _import_map() -> str:
    """Return the import map of the page: each module as a data URL."""
    own = sorted(file.name for file in _folder("page").iterdir() if file.name.endswith(".js"))
    sources = {name: _own(name) for name in own}
    sources |= {name: _vendored(file) for name, file in _MODULES.items()}
    return json.dumps({"imports": {name: _data_url(text) for name, text in sources.items()}})


def _data_url(source: str) -> str:
    return f"data:text/javascript;base64,{b64encode(source.encode()).decode()}"


def _inline(script: str) -> str:
    """Return a script as the content of an element, without the reference to its source map."""
    script = re.sub(r"^//# sourceMappingURL=.*$", "", script, flags=re.MULTILINE)
    return script.replace("</script", r"<\/script")


def _folder(name: str) -> Traversable:
    return files(__name__.rpartition(".")[0]) / name


def _own(name: str) -> str:
    return (_folder("page") / name).read_text(encoding="utf-8")


def _vendored(name: str) -> str:
    return (_folder("vendor") / name).read_text(encoding="utf-8")
