"""Warm tools: a server that has imported Python tools, and runs each request in a fork of itself.

Everything here needs the standard library alone. `client.py` runs before anything else is imported,
so it and what it imports avoid modules that are slow to import (`socket`, `signal`, `typing`).
"""
