"""The pass infrastructure over xDSL's IR: passes, contexts, pipelines, instruments, analyses and
diagnostics. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .analysis_manager import AnalysisManager
    from .base import FunctionPass, ModulePass, Pass
    from .config import register_config_option
    from .context import PassContext
    from .decorators import function_pass, module_pass
    from .diagnostics.actions import SILENT, Actions, Recorder
    from .diagnostics.diagnostics import Diagnostic, DiagnosticContext, DiagnosticError, Severity
    from .diagnostics.remarks import Remark, RemarkKind
    from .errors import (
        ChangedResultError,
        ConfigError,
        InvalidIRError,
        NotInstalledError,
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
    "ChangedResultError",
    "ConfigError",
    "Diagnostic",
    "DiagnosticContext",
    "DiagnosticError",
    "Fixpoint",
    "FunctionPass",
    "InvalidIRError",
    "ModulePass",
    "NonConvergenceError",
    "NotInstalledError",
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

_MODULES = {
    "SILENT": "diagnostics.actions",
    "Actions": "diagnostics.actions",
    "AnalysisManager": "analysis_manager",
    "ChangedResultError": "errors",
    "ConfigError": "errors",
    "Diagnostic": "diagnostics.diagnostics",
    "DiagnosticContext": "diagnostics.diagnostics",
    "DiagnosticError": "diagnostics.diagnostics",
    "Fixpoint": "sequential",
    "FunctionPass": "base",
    "InvalidIRError": "errors",
    "NotInstalledError": "errors",
    "ModulePass": "base",
    "NonConvergenceError": "rewriting.rewriting",
    "Pass": "base",
    "PassContext": "context",
    "PassContractError": "errors",
    "PassDependencyError": "errors",
    "PassInfo": "registration.info",
    "PassInstrument": "instrument",
    "PassNotFoundError": "errors",
    "PasslineError": "errors",
    "PatternPass": "rewriting.rewriting",
    "PipelineSyntaxError": "errors",
    "Plan": "sequential",
    "Recorder": "diagnostics.actions",
    "Remark": "diagnostics.remarks",
    "RemarkKind": "diagnostics.remarks",
    "Repeat": "sequential",
    "Rounding": "registration.rounding",
    "Sequential": "sequential",
    "Severity": "diagnostics.diagnostics",
    "apply_patterns": "rewriting.rewriting",
    "find_pass": "registry",
    "function_pass": "decorators",
    "info_of": "runner",
    "module_pass": "decorators",
    "parse_pipeline": "pipeline",
    "pass_instrument": "instrument",
    "register_config_option": "config",
    "register_pass": "registry",
}

if not TYPE_CHECKING:  # a type checker would take any name for one that exists

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f".{_MODULES[name]}", __name__), name)
        return found

    def __dir__() -> list[str]:
        return sorted(__all__)
