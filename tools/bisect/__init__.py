"""`passline-bisect`: the search for the pass, the function and the rewrite that break a program."""
