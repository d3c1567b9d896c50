"""The pass infrastructure over xDSL's IR: passes, contexts, pipelines, instruments, analyses and
diagnostics. Each name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .names import lazy_names

if TYPE_CHECKING:
    from .actions import SILENT as SILENT
    from .actions import Actions as Actions
    from .actions import Recorder as Recorder
    from .actions import Remark as Remark
    from .actions import RemarkKind as RemarkKind
    from .analysis_manager import AnalysisManager as AnalysisManager
    from .base import FunctionPass as FunctionPass
    from .base import ModulePass as ModulePass
    from .base import Pass as Pass
    from .conditions import Condition as Condition
    from .conditions import Violation as Violation
    from .conditions import condition as condition
    from .conditions import no_op_of as no_op_of
    from .conditions import only_dialects as only_dialects
    from .conditions import static_shapes as static_shapes
    from .config import register_config_option as register_config_option
    from .context import PassContext as PassContext
    from .dataflow.dense import DenseBackwardAnalysis as DenseBackwardAnalysis
    from .dataflow.dense import DenseForwardAnalysis as DenseForwardAnalysis
    from .dataflow.sparse import BackwardAnalysis as BackwardAnalysis
    from .dataflow.sparse import ForwardAnalysis as ForwardAnalysis
    from .decorators import function_pass as function_pass
    from .decorators import module_pass as module_pass
    from .diagnostics import Diagnostic as Diagnostic
    from .diagnostics import DiagnosticContext as DiagnosticContext
    from .diagnostics import DiagnosticError as DiagnosticError
    from .diagnostics import Severity as Severity
    from .errors import ChangedResultError as ChangedResultError
    from .errors import ConditionError as ConditionError
    from .errors import ConfigError as ConfigError
    from .errors import InvalidIRError as InvalidIRError
    from .errors import NotInstalledError as NotInstalledError
    from .errors import PassContractError as PassContractError
    from .errors import PassDependencyError as PassDependencyError
    from .errors import PasslineError as PasslineError
    from .errors import PassNotFoundError as PassNotFoundError
    from .errors import PassPlacementError as PassPlacementError
    from .errors import PipelineSyntaxError as PipelineSyntaxError
    from .instrument import PassInstrument as PassInstrument
    from .instrument import pass_instrument as pass_instrument
    from .ir.branching import BranchTrait as BranchTrait
    from .ir.branching import RegionBranchTrait as RegionBranchTrait
    from .names import Rounding as Rounding
    from .pipeline import parse_pipeline as parse_pipeline
    from .plan import Plan as Plan
    from .registry import PassInfo as PassInfo
    from .registry import find_pass as find_pass
    from .registry import register_pass as register_pass
    from .rewriting import NonConvergenceError as NonConvergenceError
    from .rewriting import PatternPass as PatternPass
    from .rewriting import apply_patterns as apply_patterns
    from .runner import info_of as info_of
    from .sequential import Fixpoint as Fixpoint
    from .sequential import Repeat as Repeat
    from .sequential import Sequential as Sequential
    from .stages import NamedPipeline as NamedPipeline
    from .stages import StagedPipeline as StagedPipeline
    from .stages import Stages as Stages
    from .stages import named_pipeline as named_pipeline

    __all__: list[str]
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
