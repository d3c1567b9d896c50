// REQUIRES: mlir-opt
// RUN: passline-opt %S/ops.mlir --print-op-generic | mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | passline-opt | filecheck %S/ops.mlir
// RUN: passline-opt %S/control.mlir --print-op-generic | mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | passline-opt | filecheck %S/control.mlir

// The generic form of all ops goes through MLIR's own tool.
