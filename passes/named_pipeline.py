"""Named pipelines: passes that are made of other passes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

from ..passmanager.pipeline import parse_pipeline
from ..passmanager.sequential import Sequential

__all__ = ["NamedPipeline", "named_pipeline"]


class NamedPipeline(Sequential):
    """A Sequential whose passes are given as text when the class is made."""

    passes_text: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(parse_pipeline(self.passes_text).passes, name=self.name)


@cache
def named_pipeline(name: str, passes: Sequence[str]) -> type[NamedPipeline]:
    """Make the class of the pipeline `name` that runs `passes`, each given as text."""
    text = ",".join(passes)
    doc = f"Run {', '.join(passes)}."
    body = {
        "name": name,
        "passes_text": text,
        "__doc__": doc,
        "__module__": f"{__package__}.pipelines",
    }
    return type(name, (NamedPipeline,), body)
