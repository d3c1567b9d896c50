"""The passes that a file may not ask for: those that reach outside of the module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.passes import ModulePass

from ..passmanager.anchors import Anchored
from ..passmanager.errors import PasslineError
from ..passmanager.options.options import pass_options
from ..passmanager.registration.names import name_key
from ..passmanager.runner import info_of, nested_passes

__all__ = ["check_passes_of_file"]

_OUTSIDE: Mapping[str, str] = {
    "mlir-opt": "runs a program",
    "alter-op-layout.hooks": "imports Python modules",
    "apply-eqsat-pdl.pdl-file": "reads another file",
    "apply-eqsat-pdl-interp.pdl-interp-file": "reads another file",
    "apply-pdl.pdl-file": "reads another file",
    "apply-pdl-interp.pdl-interp-file": "reads another file",
    "eqsat-add-costs.cost-file": "reads another file",
}
"""A pass, or an option of it that is set -> what the pass then does outside of the module."""


def check_passes_of_file(passes: Iterable[ModulePass], file: str, pipeline: str) -> None:
    """Raise PasslineError if one of `passes`, which the text of `file` names, reaches outside of
    the module: whoever sends a file must not make this process run programs."""
    for pass_ in passes:
        for nested in nested_passes(pass_):
            inner = nested.pass_ if isinstance(nested, Anchored) else nested
            if (deed := _deed_outside(inner)) is not None:
                raise PasslineError(
                    f"'{file}': pass '{info_of(inner).text}' {deed}, which a pipeline in a file "
                    f"may not do; if you trust it, give the pipeline yourself: -p '{pipeline}' in "
                    "place of --run-reproducer"
                )


def _deed_outside(pass_: ModulePass) -> str | None:
    """Return what a pass does outside of the module, or None."""
    name = info_of(pass_).name
    given = [option for option in pass_options(type(pass_)) if getattr(pass_, option.field)]
    keys = [name_key(name), *(f"{name}.{option.name}" for option in given)]
    return next((_OUTSIDE[key] for key in keys if key in _OUTSIDE), None)
