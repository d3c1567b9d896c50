"""Adapters to older and newer releases of xDSL: a file for each subject that changed.

Passline is written for the newest release. An adapter is asked by the presence of a name, never
by a version, and says in which release xDSL changed. No other code tells releases apart.
"""
