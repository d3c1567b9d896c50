stackvm.program @seven {
  stackvm.push 3
  stackvm.push 4
  stackvm.add
  stackvm.print
}
