// RUN: passline-opt %s --elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=ELIDED
// RUN: passline-opt %s --large-elements-as-resources=2 | filecheck %s --check-prefix=RESOURCES
// RUN: passline-opt %s --large-elements-as-resources=2 | passline-opt | filecheck %s --check-prefix=AGAIN
// RUN: passline-opt %s --print-value-users | filecheck %s --check-prefix=USERS
// RUN: passline-opt %s --print-skip-regions | filecheck %s --check-prefix=SKIPPED
// RUN: passline-opt %s --print-unique-ssa-ids | filecheck %s --check-prefix=UNIQUE

func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
  %c = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = relax.add %a, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %0 : tensor<3xf32>
}
func.func @g(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = relax.constant dense<4.0> : tensor<3xf32>
  func.return %0 : tensor<3xf32>
}

// ELIDED:      %c = relax.constant dense_resource<__elided__> : tensor<3xf32>
// ELIDED:      %0 = relax.constant dense<4.000000e+00> : tensor<3xf32>

// RESOURCES:      %c = relax.constant dense_resource<[[NAME:constant_[0-9a-f]+]]> : tensor<3xf32>
// RESOURCES:      %0 = relax.constant dense<4.000000e+00> : tensor<3xf32>
// RESOURCES:      {-#
// RESOURCES-NEXT:   dialect_resources: {
// RESOURCES-NEXT:     builtin: {
// RESOURCES-NEXT:       [[NAME]]: "0x040000000000803F0000004000004040"
// RESOURCES-NEXT:     }
// RESOURCES-NEXT:   }
// RESOURCES-NEXT: #-}

// AGAIN:      %c = relax.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
// AGAIN-NOT:  {-#

// USERS:      func.func @f(%a: tensor<3xf32>)
// USERS-NEXT:     // %a is used by %0
// USERS-NEXT:     relax.constant {{.*}} // user: %0
// USERS-NEXT:     relax.add {{.*}} // user: %1
// USERS-NEXT:     func.return %0 : tensor<3xf32> // id: %1
// USERS:          // %a is unused

// SKIPPED:      builtin.module {...}
// SKIPPED-NOT:  func

// UNIQUE:      func.func @f(%a: tensor<3xf32>)
// UNIQUE:        %0 = relax.add %a, %c
// UNIQUE:      func.func @g(%a_1: tensor<3xf32>)
// UNIQUE-NEXT:   %1 = relax.constant
