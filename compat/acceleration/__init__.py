"""The parts of xDSL that Passline does faster, and the sources that they depend on."""
