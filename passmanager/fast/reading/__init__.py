"""Reading: parsers on top of xDSL's, which give places and remember what they parsed."""
