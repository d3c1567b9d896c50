"""What the commands say of failures, and --verify-diagnostics."""
