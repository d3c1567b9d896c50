"""Pipelines by name, as TVM's `relax.get_pipeline` and `relax.register_pipeline` have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.passes import ModulePass

from ..passmanager.base import Pass
from ..passmanager.errors import PassNotFoundError
from ..passmanager.names import did_you_mean, find_name, name_key
from ..passmanager.pipeline import parse_pipeline
from ..passmanager.registration import register_pass
from ..passmanager.registry import installed
from ..passmanager.sequential import Sequential
from .pipelines import PIPELINES

__all__ = ["get_pipeline", "register_pipeline"]

Factory = TypeVar("Factory", bound=Callable[..., ModulePass])


def get_pipeline(name: str = "zero", **options: object) -> Pass:
    """Return a new pipeline: a registered one, or the counterpart of TVM's `zero` or `default`.

    `options` are the arguments of the function that was registered. Errors: PassNotFoundError for
    an unknown name. Source: `tvm.relax.get_pipeline`.
    """
    if (found := find_name(name, installed().names)) is not None:
        return _own(installed().passes[found]()(**options), name)
    from .tvm_names import read_sections

    rows = {name_key(row.name): row for row in read_sections()["pipelines"]}
    if (row := rows.get(name_key(name))) is None:
        own = [*PIPELINES, *(row.name for row in rows.values())]
        raise PassNotFoundError(
            f"there is no pipeline '{name}'{did_you_mean(name, own) or ': ' + ', '.join(own)}"
        )
    if not row.here:
        raise PassNotFoundError(f"pipeline '{name}' has no counterpart: {row.note}")
    if options:
        raise TypeError(f"pipeline '{name}' has no option '{next(iter(options))}'")
    first, *others = parse_pipeline(row.here).passes
    return Sequential([first, *others], name=name) if others else _own(first, name)


def _own(pass_: ModulePass, name: str) -> Pass:
    """Return a pass that can be called: a pass of xDSL in a pipeline of its own."""
    return pass_ if isinstance(pass_, Pass) else Sequential([pass_], name=name)


def register_pipeline(name: str) -> Callable[[Factory], Factory]:
    """Return a decorator that registers a function, which returns a pass, as the pipeline `name`.

    The name works wherever a pass is named. Errors: ValueError for the name of a pass. Source:
    `tvm.relax.register_pipeline`.
    """
    if find_name(name, installed().names) is not None:
        raise ValueError(f"there is a pass or pipeline '{name}' already")

    def register(make: Factory) -> Factory:
        register_pass(make, name)
        return make

    return register
