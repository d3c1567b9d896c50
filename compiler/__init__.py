"""The compiler: from ONNX models and tensor programs (`relax`, `tir`) to machine code, as a project
on the infrastructure of `passline.passmanager`."""
