"""The functions of `import passline`, which read, optimize, run, compile and show modules."""
