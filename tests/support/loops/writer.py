"""The base of the writers of functions on buffers."""

from __future__ import annotations

from random import Random

from ..networks.choices import Choices

__all__ = ["Writer"]


class Writer:
    """A writer of the text of a function `@name`, line by line."""

    def __init__(self, source: Random, name: str) -> None:
        self.random = Choices(source)
        self.function = name
        self.lines: list[str] = []
        self.names = 0

    @property
    def text(self) -> str:
        """The text of the function, and of those that it calls."""
        raise NotImplementedError

    def name(self) -> str:
        """Return a name for a new value."""
        self.names += 1
        return f"%v{self.names}"

    def op(self, text: str) -> str:
        """Write an operation; return the name of its result."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, low: int, high: int) -> str:
        """Write an index between two integers."""
        return self.op(f"arith.constant {self.random.randint(low, high)} : index")
