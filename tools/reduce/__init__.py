"""`passline-reduce`: the reduction of a module that a test finds interesting."""
