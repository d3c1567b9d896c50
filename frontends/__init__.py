"""Importers of models."""
