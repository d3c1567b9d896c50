"""How operations become loops: the builder of kernels, and the table of legalizations."""
