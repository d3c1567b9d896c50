"""Test suites and projects of others, and the execution of RUN lines."""
