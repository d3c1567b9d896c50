"""The compiler, from ONNX and tensor programs to machine code, on `passline.passmanager`."""
