"""The pass infrastructure over xDSL's IR: passes, contexts, pipelines, instruments, analyses and
diagnostics.
"""

from .analysis_manager import AnalysisManager
from .base import FunctionPass, ModulePass, Pass
from .config import register_config_option
from .context import PassContext
from .decorators import function_pass, module_pass
from .diagnostics.actions import SILENT, Actions, Recorder
from .diagnostics.diagnostics import Diagnostic, DiagnosticContext, DiagnosticError, Severity
from .diagnostics.remarks import Remark, RemarkKind
from .errors import (
    ConfigError,
    InvalidIRError,
    PassContractError,
    PassDependencyError,
    PasslineError,
    PassNotFoundError,
    PipelineSyntaxError,
)
from .instrument import PassInstrument, pass_instrument
from .pipeline import parse_pipeline
from .registration.info import PassInfo
from .registration.rounding import Rounding
from .registry import find_pass, register_pass
from .rewriting.rewriting import NonConvergenceError, PatternPass, apply_patterns
from .runner import info_of
from .sequential import Fixpoint, Plan, Repeat, Sequential

__all__ = [
    "SILENT",
    "Actions",
    "AnalysisManager",
    "ConfigError",
    "Diagnostic",
    "DiagnosticContext",
    "DiagnosticError",
    "Fixpoint",
    "FunctionPass",
    "InvalidIRError",
    "ModulePass",
    "NonConvergenceError",
    "Pass",
    "PassContext",
    "PassContractError",
    "PassDependencyError",
    "PassInfo",
    "PassInstrument",
    "PassNotFoundError",
    "PasslineError",
    "PatternPass",
    "PipelineSyntaxError",
    "Plan",
    "Recorder",
    "Remark",
    "RemarkKind",
    "Repeat",
    "Rounding",
    "Sequential",
    "Severity",
    "apply_patterns",
    "find_pass",
    "function_pass",
    "info_of",
    "module_pass",
    "parse_pipeline",
    "pass_instrument",
    "register_config_option",
    "register_pass",
]
