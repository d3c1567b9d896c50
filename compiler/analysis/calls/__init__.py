"""Functions: who calls whom, what calls compute and change."""
