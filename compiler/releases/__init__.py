"""Adapters to older and newer releases of xDSL for the compiler, as `passmanager.releases`."""
