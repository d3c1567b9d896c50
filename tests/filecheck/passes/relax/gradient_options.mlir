// RUN: passline-opt %s -p 'gradient{func-name=loss require-grads=b,0 target-index=1}' | filecheck %s
// RUN: not passline-opt %s -p 'gradient{func-name=loss require-grads=c}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not passline-opt %s -p 'gradient{func-name=loss require-grads=3}' 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not passline-opt %s -p 'gradient{func-name=loss require-grads=n}' 2>&1 | filecheck %s --check-prefix=INTEGER
// RUN: not passline-opt %s -p 'gradient{func-name=loss require-grads=a,0}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not passline-opt %s -p 'gradient{func-name=loss target-index=2}' 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not passline-opt %s -p 'gradient{target-index=-1}' 2>&1 | filecheck %s --check-prefix=NEGATIVE

// In the order of the option.
// CHECK-LABEL: @loss_adjoint
// CHECK:         [[ONE:%.*]] = relax.full 1.000000e+00 : tensor<f32>
// CHECK-NEXT:    [[DA:%.*]] = relax.multiply [[ONE]], %b
// CHECK-NEXT:    [[DB:%.*]] = relax.multiply [[ONE]], %a
// CHECK-NEXT:    func.return %{{.*}}, %{{.*}}, [[DB]], [[DA]]

// NAME:     error: function @loss has no parameter 'c'
// NUMBER:   error: function @loss has no parameter '3'
// INTEGER:  error: parameter 'n' of @loss is tensor<i64>, which is not a tensor of floating-point numbers
// TWICE:    error: parameter '0' is required twice
// TARGET:   error: function @loss has 2 results, so none with number 2
// NEGATIVE: error: {{.*}}target-index
func.func @loss(%a: tensor<f32>, %b: tensor<f32>, %n: tensor<i64>) -> (tensor<f32>, tensor<f32>) {
  %0 = relax.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = relax.multiply %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
