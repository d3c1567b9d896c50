// RUN: passline-opt %s -p view-op-graph 2>&1 >/dev/null | filecheck %s
// RUN: passline-opt %s -p 'print-op-graph{print-data-flow-edges=false print-control-flow-edges=true print-attrs=false}' 2>&1 >/dev/null | filecheck %s --check-prefix=ORDER

// Nodes are operations and arguments, clusters have regions, edges are uses.
// CHECK: digraph G {
// CHECK-NEXT: compound = true;
// CHECK: label = "func.func : ()\lfunction_type: (i32) -\> i32\lsym_name: \"main\"\l";
// CHECK: v[[X:.*]] [label = "<res_x> %x i32", shape = Mrecord];
// CHECK: v[[C:.*]] [fillcolor = {{.*}}label = "{arith.constant\l\lvalue: 10 : i32\l|{<res_c> %c i32}}"
// CHECK: v[[A:.*]] [fillcolor = {{.*}}label = "{{[{][{]}}<arg_x> %x|<arg_c> %c}|arith.addi\l
// CHECK: v[[X]]:res_x:s -> v[[A]]:arg_x:n[style = solid];
// CHECK: v[[C]]:res_c:s -> v[[A]]:arg_c:n[style = solid];

// The order of operations instead, without attributes.
// ORDER: v[[C:.*]] [{{.*}}label = "{arith.constant\l|{<res_c> %c i32}}"
// ORDER: v[[A:.*]] [{{.*}}arith.addi\l|
// ORDER-NOT: solid
// ORDER: v[[C]] -> v[[A]][style = dashed];
func.func @main(%x: i32) -> i32 {
  %c = arith.constant 10 : i32
  %a = arith.addi %x, %c : i32
  return %a : i32
}
