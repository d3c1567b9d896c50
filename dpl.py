"""Dataflow patterns under TVM's name: `passline.dpl.is_op("relax.add")(wildcard(), is_const())`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .passmanager.names import lazy_names

if TYPE_CHECKING:
    from .compiler.analysis.dataflow_pattern import Match as Match
    from .compiler.analysis.dataflow_pattern import Pattern as Pattern
    from .compiler.analysis.dataflow_pattern import is_arg as is_arg
    from .compiler.analysis.dataflow_pattern import is_const as is_const
    from .compiler.analysis.dataflow_pattern import is_op as is_op
    from .compiler.analysis.dataflow_pattern import parse_pattern as parse_pattern
    from .compiler.analysis.dataflow_pattern import wildcard as wildcard
    from .compiler.analysis.rewrite_call import rewrite_call as rewrite_call

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
