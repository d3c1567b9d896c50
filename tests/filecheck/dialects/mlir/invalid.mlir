// RUN: passline-opt %s --split-input-file --verify-diagnostics

func.func @padding(%a: tensor<4xf32>, %x: f32) {
  // expected-error @+1 {{expected size 6 in dimension 0 of the result, got 7}}
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %x : f32
  } : tensor<4xf32> to tensor<7xf32>
  func.return
}

// -----

func.func @clone(%a: memref<4xf32>) {
  // expected-error @+1 {{expected operand and result of compatible shapes, got memref<4xf32> and memref<5xf32>}}
  %0 = bufferization.clone %a : memref<4xf32> to memref<5xf32>
  func.return
}

// -----

func.func @buffer(%a: tensor<4xf32>) {
  // expected-error @+1 {{expected operand and result of one element type, got tensor<4xf32> and memref<4xf64>}}
  %0 = bufferization.to_buffer %a : tensor<4xf32> to memref<4xf64>
  func.return
}
