// RUN: not passline-opt %s --split-input-file 2>&1 | filecheck %s
// REQUIRES-XDSL: 0.71 (floats of 8 bits, and tf32)

// CHECK: sizes of tiles are powers of two, got [4, 3]
cuda_tile.module @m {
  entry @k(%z: tile<4x3xf32>) {
  }
}

// -----

// CHECK: i7 is no element of a tile: expected a number or ptr
cuda_tile.module @m {
  entry @k(%z: tile<4xi7>) {
  }
}

// -----

// CHECK: !cuda_tile.ptr<f32> is no number of CUDA Tile IR: expected i1, i8, ... or f64
cuda_tile.module @m {
  entry @k(%z: tile<ptr<ptr<f32>>>) {
  }
}

// -----

// CHECK: a tile has known sizes: expected a number, got '?'
cuda_tile.module @m {
  entry @k(%z: tile<?xf32>) {
  }
}

// -----

// CHECK: a tile has at most 16777216 elements, got 33554432
cuda_tile.module @m {
  entry @k(%z: tile<16777216x2xf32>) {
  }
}

// -----

// CHECK: a tile of f4E2M1FN has an even number of elements, got 1
cuda_tile.module @m {
  entry @k(%z: tile<f4E2M1FN>) {
  }
}

// -----

// CHECK: a stride is positive, or '?', got 0
cuda_tile.module @m {
  entry @k(%z: tensor_view<4xf32, strides=[0]>) {
  }
}

// -----

// CHECK: a tensor_view has a stride for each size: expected 1 strides, got 2
cuda_tile.module @m {
  entry @k(%z: tensor_view<4xf32, strides=[1, 1]>) {
  }
}

// -----

// CHECK: expected a tensor_view, got !cuda_tile.tile<f32>
cuda_tile.module @m {
  entry @k(%z: partition_view<tile=(4), tile<f32>>) {
  }
}

// -----

// CHECK: expected tiles of the rank of the tensor_view, 1, got 2
cuda_tile.module @m {
  entry @k(%z: partition_view<tile=(4x4), tensor_view<64xf32, strides=[1]>>) {
  }
}

// -----

// CHECK: #cuda_tile.padding_value<nan> is one of floats, not i32
cuda_tile.module @m {
  entry @k(%z: partition_view<tile=(4), padding_value = nan, tensor_view<64xi32, strides=[1]>>) {
  }
}

// -----

// CHECK: dim_map names each dimension of the tensor_view once: expected a permutation of [0], got [1]
cuda_tile.module @m {
  entry @k(%z: partition_view<tile=(4), tensor_view<64xf32, strides=[1]>, dim_map=[1]>) {
  }
}

// -----

// CHECK: expected 1 positive traversal_strides, got [0]
cuda_tile.module @m {
  entry @k(%z: strided_view<tile=(4), traversal_strides=[0], tensor_view<64xf32, strides=[1]>>) {
  }
}

// -----

// CHECK: sparse_dim is a dimension of the tensor_view: expected less than 1, got 1
cuda_tile.module @m {
  entry @k(%z: gather_scatter_view<tile=(4), tensor_view<64xf32, strides=[1]>, sparse_dim=1>) {
  }
}

// -----

// CHECK: parameters are scalar tiles, got !cuda_tile.tile<4xf32>
cuda_tile.module @m {
  entry @k(%z: tile<4xf32>) {
    return
  }
}

// -----

// CHECK: 300 does not fit into i8
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = constant <i8: 300> : tile<i8>
  }
}

// -----

// CHECK: expected an integer of i32, got 1.5
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = constant <i32: 1.5> : tile<i32>
  }
}

// -----

// CHECK: expected a float, or the bits of one as 0x..., got 1
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = constant <f32: 1> : tile<f32>
  }
}

// -----

// CHECK: a constant of shape [2] is no !cuda_tile.tile<4xf32>: expected [4]
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = constant <f32: [1.0, 2.0]> : tile<4xf32>
  }
}

// -----

// CHECK: expected the type of tiles of f32, got !cuda_tile.tile<f16>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = constant <f32: 1.0> : tile<f16>
  }
}

// -----

// CHECK: expected rows of one length, and of a number at least
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = constant <i32: [[1], [1, 2]]> : tile<2x2xi32>
  }
}

// -----

// CHECK: expected a tile of f16 or bf16 or f32 or f64, got !cuda_tile.tile<i32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = addf %n, %n : tile<i32>
  }
}

// -----

// CHECK: rounding full: expected nearest_even, zero, negative_inf, positive_inf
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = addf %x, %x rounding<full> : tile<f32>
  }
}

// -----

// CHECK: flush_to_zero is for f32, not for f16
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>, %h: tile<f16>) {
    %0 = addf %h, %h flush_to_zero : tile<f16>
  }
}

// -----

// CHECK: rounding approx is for f32, not for f64
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>, %h: tile<f64>) {
    %0 = sqrt %h rounding<approx> : tile<f64>
  }
}

// -----

// CHECK: rounding full is for f32, not for f64
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>, %h: tile<f64>) {
    %0 = divf %h, %h rounding<full> : tile<f64>
  }
}

// -----

// CHECK: rounding zero: expected full, approx
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = exp %x rounding<zero> : tile<f32>
  }
}

// -----

// CHECK: overflow no_unsigned_wrap: integers are signed, expected no_signed_wrap or no_wrap
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = negi %n overflow<no_unsigned_wrap> : tile<i32>
  }
}

// -----

// CHECK: rounding negative_inf: expected zero, positive_inf
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = divi %n, %n unsigned rounding<negative_inf> : tile<i32>
  }
}

// -----

// CHECK: expected signedness, one of unsigned, signed
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = divi %n, %n : tile<i32>
  }
}

// -----

// CHECK: expected tiles of one shape, got !cuda_tile.tile<i32> and !cuda_tile.tile<2xi1>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = cmpi equal %n, %n, signed : tile<i32> -> tile<2xi1>
  }
}

// -----

// CHECK: expected comparison_predicate, one of equal, not_equal, less_than, less_than_or_equal, greater_than, greater_than_or_equal, got same
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = cmpf same ordered %x, %x : tile<f32> -> tile<i1>
  }
}

// -----

// CHECK: expected tiles of one shape, got !cuda_tile.tile<i1> and !cuda_tile.tile<4xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = select %c, %i, %i : tile<i1>, tile<4xi32>
  }
}

// -----

// CHECK: expected elements of 32 bits, got 64
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = bitcast %x : tile<f32> -> tile<i64>
  }
}

// -----

// CHECK: expected more bits than 32, got 32
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = exti %n signed : tile<i32> -> tile<i32>
  }
}

// -----

// CHECK: expected fewer bits than 32, got 64
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = trunci %n : tile<i32> -> tile<i64>
  }
}

// -----

// CHECK: expected another type than !cuda_tile.tile<f32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = ftof %x : tile<f32> -> tile<f32>
  }
}

// -----

// CHECK: rounding nearest_even: expected zero, positive_inf
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = ftof %x : tile<f32> -> tile<f8E8M0FNU>
  }
}

// -----

// CHECK: no integer becomes f8E8M0FNU: expected another float first
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = itof %n signed : tile<i32> -> tile<f8E8M0FNU>
  }
}

// -----

// CHECK: expected tiles of one shape, got !cuda_tile.tile<ptr<f32>> and !cuda_tile.tile<4xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = offset %p, %i : tile<ptr<f32>>, tile<4xi32> -> tile<ptr<f32>>
  }
}

// -----

// CHECK: 512 numbers do not fit into !cuda_tile.tile<512xi8>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = iota : tile<512xi8>
  }
}

// -----

// CHECK: !cuda_tile.tile<4xi32> has no broadcast to !cuda_tile.tile<8xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = broadcast %i : tile<4xi32> -> tile<8xi32>
  }
}

// -----

// CHECK: expected as many elements as !cuda_tile.tile<4xi32>, got !cuda_tile.tile<8xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = reshape %i : tile<4xi32> -> tile<8xi32>
  }
}

// -----

// CHECK: expected a permutation of [0, 1], got [0, 0]
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %j = reshape %i : tile<4xi32> -> tile<2x2xi32>
    %0 = permute %j [0, 0] : tile<2x2xi32> -> tile<2x2xi32>
  }
}

// -----

// CHECK: expected a tile of two dimensions or more, got !cuda_tile.tile<4xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = permute %i [0] : tile<4xi32> -> tile<4xi32>
  }
}

// -----

// CHECK: !cuda_tile.tile<4xi32> and !cuda_tile.tile<4xi32> beside each other in dimension 0 are no !cuda_tile.tile<4xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = cat %i, %i dim = 0 : tile<4xi32>, tile<4xi32> -> tile<4xi32>
  }
}

// -----

// CHECK: dim 1: expected 0 to 0
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = cat %i, %i dim = 1 : tile<4xi32>, tile<4xi32> -> tile<8xi32>
  }
}

// -----

// CHECK: expected 1 indices, got 2
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = extract %i[%n, %n] : tile<4xi32> -> tile<2xi32>
  }
}

// -----

// CHECK: expected tiles of the same number of bits, got [128, 32]
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = pack %i : tile<4xi32> -> tile<4xi8>
  }
}

// -----

// CHECK: expected elements of other widths than 8 bits
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi8>
    %0 = pack %i : tile<4xi8> -> tile<4xi8>
  }
}

// -----

// CHECK: !cuda_tile.tile<4x8xf16> and !cuda_tile.tile<4x8xf16> have no product !cuda_tile.tile<4x4xf32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %a = constant <f16: 0.0> : tile<4x8xf16>
    %s = constant <f32: 0.0> : tile<4x4xf32>
    %0 = mmaf %a, %a, %s : tile<4x8xf16>, tile<4x8xf16>, tile<4x4xf32>
  }
}

// -----

// CHECK: products of bf16 are summed in f32, not f16
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %a = constant <bf16: 0.0> : tile<4x4xbf16>
    %s = constant <f16: 0.0> : tile<4x4xf16>
    %0 = mmaf %a, %a, %s : tile<4x4xbf16>, tile<4x4xbf16>, tile<4x4xf16>
  }
}

// -----

// CHECK: blocks of 1 elements f8E5M2 for a scale f8E8M0FNU: expected 32
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %a = constant <f8E5M2: 0.0> : tile<4x4xf8E5M2>
    %s = constant <f32: 0.0> : tile<4x4xf32>
    %t = constant <f8E8M0FNU: 1.0> : tile<4x4xf8E8M0FNU>
    %0 = mmaf_scaled %a, %a, %s, %t, %t : tile<4x4xf8E5M2>, tile<4x4xf8E5M2>, tile<4x4xf32>, tile<4x4xf8E8M0FNU>, tile<4x4xf8E8M0FNU>
  }
}

// -----

// CHECK: dim 1: expected a dimension of !cuda_tile.tile<4xi32>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = reduce %i dim=1 identities=[0 : i32] : tile<4xi32> -> tile<i32> (%a: tile<i32>, %b: tile<i32>) { yield %a : tile<i32> }
  }
}

// -----

// CHECK: expected identities of i32, got 0 : i64
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = reduce %i dim=0 identities=[0 : i64] : tile<4xi32> -> tile<i32> (%a: tile<i32>, %b: tile<i32>) { yield %a : tile<i32> }
  }
}

// -----

// CHECK: results: expected (!cuda_tile.tile<i32>), got (!cuda_tile.tile<4xi32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = reduce %i dim=0 identities=[0 : i32] : tile<4xi32> -> tile<4xi32> (%a: tile<i32>, %b: tile<i32>) { yield %a : tile<i32> }
  }
}

// -----

// CHECK: arguments: expected (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>), got (!cuda_tile.tile<i32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = reduce %i dim=0 identities=[0 : i32] : tile<4xi32> -> tile<i32> (%a: tile<i32>) { yield %a : tile<i32> }
  }
}

// -----

// CHECK: 'cuda_tile.print_tko' has side effects: expected a function of values
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %i = iota : tile<4xi32>
    %0 = scan %i dim=0 reverse=false identities=[0 : i32] : tile<4xi32> -> tile<4xi32> (%a: tile<i32>, %b: tile<i32>) {
    %t = print_tko "x" -> token yield %a : tile<i32> }
  }
}

// -----

// CHECK: memory order weak: expected no memory scope
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = load_ptr_tko weak device %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

// CHECK: memory order relaxed: expected a memory scope
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = load_ptr_tko relaxed %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

// CHECK: memory order release: expected weak, relaxed, acquire
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = load_ptr_tko release device %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

// CHECK: expected memory_ordering_semantics, one of weak, relaxed, acquire, release, acq_rel, got strong
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = load_ptr_tko strong %p : tile<ptr<f32>> -> tile<f32>, token
  }
}

// -----

// CHECK: result: expected (!cuda_tile.tile<f32>), got (!cuda_tile.tile<i32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<i32>, token
  }
}

// -----

// CHECK: value: expected (!cuda_tile.tile<f32>), got (!cuda_tile.tile<i32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = store_ptr_tko weak %p, %n : tile<ptr<f32>>, tile<i32> -> token
  }
}

// -----

// CHECK: memory order acquire: expected weak, relaxed, release
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = store_ptr_tko acquire device %p, %x : tile<ptr<f32>>, tile<f32> -> token
  }
}

// -----

// CHECK: 'add' is for i32 and i64, not for f32
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = atomic_rmw_tko relaxed device %p, add, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  }
}

// -----

// CHECK: property 'memory_scope' expected in operation 'cuda_tile.atomic_rmw_tko'
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0,
    %1 = atomic_rmw_tko weak %p, addf, %x : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
  }
}

// -----

// CHECK: expected numbers of 32 or 64 bits, got i8
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>, %q: tile<ptr<i8>>, %b: tile<i8>) {
    %0,
    %1 = atomic_cas_tko relaxed device %q, %b, %b : tile<ptr<i8>>, tile<i8> -> tile<i8>, token
  }
}

// -----

// CHECK: expected two tokens or more, got 1
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %t = make_token : token
    %0 = join_tokens %t : token
  }
}

// -----

// CHECK: alignment 3: expected a power of two
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = alloca num_elem = 4, alignment = 3 : tile<ptr<f32>>
  }
}

// -----

// CHECK: alignment 2: expected 4 at least, for f32
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = alloca num_elem = 4, alignment = 2 : tile<ptr<f32>>
  }
}

// -----

// CHECK: shape and strides are not those of !cuda_tile.tensor_view<64xf32, strides=[1]>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = make_tensor_view %p, shape = [32], strides = [1] : tensor_view<64xf32, strides=[1]>
  }
}

// -----

// CHECK: expected the type of unknown sizes, and '->'
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = make_tensor_view %p, shape = [%n], strides = [1] : tensor_view<?xf32, strides=[1]>
  }
}

// -----

// CHECK: expected 1 indices, got 2
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %g = make_partition_view %v : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>
    %0,
    %1 = load_view_tko weak %g[%n, %n] : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<4xf32>, token
  }
}

// -----

// CHECK: tile: expected (!cuda_tile.tile<4xf32>), got (!cuda_tile.tile<8xf32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %g = make_partition_view %v : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>
    %0,
    %1 = load_view_tko weak %g[%n] : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

// CHECK: index 0 is !cuda_tile.tile<4xi32>: expected a scalar tile
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %g = make_partition_view %v : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>
    %i = iota : tile<4xi32>
    %0,
    %1 = load_view_tko weak %g[%i] : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<4xi32> -> tile<4xf32>, token
  }
}

// -----

// CHECK: index 0, that of sparse_dim, is !cuda_tile.tile<i32>: expected a tile of shape [4]
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %g = make_gather_scatter_view %v : gather_scatter_view<tile=(4), tensor_view<64xf32, strides=[1]>, sparse_dim=0>
    %0,
    %1 = load_view_tko weak %g[%n] : gather_scatter_view<tile=(4), tensor_view<64xf32, strides=[1]>, sparse_dim=0>, tile<i32> -> tile<4xf32>, token
  }
}

// -----

// CHECK: memory scope sys: expected tl_blk or device
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    %g = make_partition_view %v : partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>
    %y = constant <f32: 0.0> : tile<4xf32>
    %0 = atomic_red_view_tko relaxed sys %g[%n], addf, %y : tile<4xf32>, partition_view<tile=(4), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
  }
}

// -----

// CHECK: values of continue: expected (!cuda_tile.tile<f32>), got ()
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    for %i in (%n to %n, step %n) : tile<i32> iter_values(%a = %x) -> (tile<f32>) { continue }
  }
}

// -----

// CHECK: stands in 'cuda_tile.for': expected 'cuda_tile.loop', or ifs in one
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    for %i in (%n to %n, step %n) : tile<i32> { break }
  }
}

// -----

// CHECK: values of break: expected (!cuda_tile.tile<i32>), got ()
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = loop : tile<i32> { break }
  }
}

// -----

// CHECK: has results: expected an else
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = if %c -> (tile<i32>) { yield %n : tile<i32> }
  }
}

// -----

// CHECK: values of else: expected (!cuda_tile.tile<i32>), got (!cuda_tile.tile<f32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = if %c -> (tile<i32>) { yield %n : tile<i32> } else { yield %x : tile<f32> }
  }
}

// -----

// CHECK: a view is no value of a loop or if, got !cuda_tile.tensor_view<64xf32, strides=[1]>
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
    loop iter_values(%w = %v) : tensor_view<64xf32, strides=[1]> { break }
  }
}

// -----

// CHECK: values of return: expected (), got (!cuda_tile.tile<i32>)
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    return %n : tile<i32>
  }
}

// -----

// CHECK: @missing is no global variable
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = get_global @missing : tile<ptr<f32>>
  }
}

// -----

// CHECK: div_by 3: expected a power of two, 2^62 at most
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = assume div_by<3>, %n : tile<i32>
  }
}

// -----

// CHECK: div_by along 0: !cuda_tile.tile<i32> has no such dimension
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = assume div_by<4, every 2 along 0>, %n : tile<i32>
  }
}

// -----

// CHECK: bounded: expected -2147483648 to 2147483647, got [0, 4294967296]
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = assume bounded<0, 4294967296>, %n : tile<i32>
  }
}

// -----

// CHECK: bounded: expected a lower bound of 2 at most
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = assume bounded<4, 2>, %n : tile<i32>
  }
}

// -----

// CHECK: same_elements [2]: expected [] at most
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = assume same_elements<[2]>, %n : tile<i32>
  }
}

// -----

// CHECK: expected a predicate: div_by, same_elements or bounded
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = assume even, %n : tile<i32>
  }
}

// -----

// CHECK: the format "%d %d" has 2 operands, got 1
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = print_tko "%d %d", %n : tile<i32> -> token
  }
}

// -----

// CHECK: the format "100%" ends within a '%...'
cuda_tile.module @m {
  entry @k(%p: tile<ptr<f32>>, %n: tile<i32>, %x: tile<f32>, %c: tile<i1>) {
    %0 = print_tko "100%" -> token
  }
}

// -----

// CHECK: expected a constant of one dimension, got []
cuda_tile.module @m {
  global @g <f32: 1.0> : tile<f32>
}

// -----

// CHECK: result: expected (!cuda_tile.tile<ptr<f32>>), got (!cuda_tile.tile<ptr<i32>>)
cuda_tile.module @m {
  global @g <f32: [1.0]> : tile<1xf32> entry @k() { %0 = get_global @g : tile<ptr<i32>> }
}

// -----

// CHECK: expected a tile of i1 or i8 or i16 or i32, got !cuda_tile.tile<i64>
cuda_tile.module @m {
  entry @k(%x: tile<f32>, %n: tile<i64>) {
    %0 = fpowi %x, %n : tile<f32>, tile<i64>
  }
}

// -----

// CHECK: !cuda_tile.tile<2xf32> has no whole number of parts !cuda_tile.tile<4xf32>
cuda_tile.module @m {
  entry @k(%n: tile<i32>) {
    %a = constant <f32: 1.0> : tile<4xf32>
    %b = constant <f32: 1.0> : tile<2xf32>
    %0 = insert %a, %b[%n] : tile<4xf32>, tile<2xf32>
  }
}

// -----

// CHECK: inbounds: expected 2 values, got 1
cuda_tile.module @m {
  entry @k(%n: tile<i32>, %p: tile<ptr<f32>>) {
    %0 = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %1 = make_partition_view %0 : partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>
    %2, %3 = load_view_tko weak %1[%n, %n] inbounds = [true] : partition_view<tile=(16x8), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> tile<16x8xf32>, token
  }
}
