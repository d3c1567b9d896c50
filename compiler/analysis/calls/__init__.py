"""What calls compute, known before a program runs."""
