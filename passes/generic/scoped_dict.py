"""A dictionary with scopes: entries of a scope are undone when it ends (LLVM `ScopedHashTable`)."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ScopedDict(dict[K, V], Generic[K, V]):
    """A dict that records its changes, so that `rollback` can undo them.

    Set entries with `put` only; `None` is not a value. A scope costs time for its entries only:
    nothing is copied, and a look-up is a look-up in a dict.
    """

    def __init__(self) -> None:
        super().__init__()
        self._replaced: list[tuple[K, V | None]] = []

    def put(self, key: K, value: V) -> None:
        """Set the entry of `key` until the next `rollback` to an earlier mark."""
        # An undo log: the entry that was replaced, or None for a key that is new.
        self._replaced.append((key, self.get(key)))
        self[key] = value

    def mark(self) -> int:
        """Return a mark of the current state, for `rollback`."""
        return len(self._replaced)

    def rollback(self, mark: int) -> None:
        """Undo all entries that were put since `mark`."""
        undone = self._replaced[mark:]
        del self._replaced[mark:]
        for key, value in reversed(undone):
            if value is None:
                del self[key]
            else:
                self[key] = value
