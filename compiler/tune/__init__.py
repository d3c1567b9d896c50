"""Tuning: the measurement of schedules for the kernels of a model, and their database."""

from __future__ import annotations
