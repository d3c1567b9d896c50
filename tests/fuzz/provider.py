"""A source of choices for hypothesis that depends on nothing but the seed."""

from __future__ import annotations

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

__all__ = ["SEEDED"]

SEEDED = "passline-seeded"
"""The name of the backend: see `settings.backend` of hypothesis."""


class SeededProvider(HypothesisProvider):
    """Draws as hypothesis does, but for the constants of the modules that are imported.

    Hypothesis mixes those in, so that a seed would give another case on another machine, and in
    another order of the tests.
    """

    def _maybe_draw_constant(self, *_: object, **__: object) -> None:
        return None


AVAILABLE_PROVIDERS[SEEDED] = SeededProvider
