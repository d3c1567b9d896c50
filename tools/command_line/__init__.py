"""What the commands share: arguments, help, configuration."""
