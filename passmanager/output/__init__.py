"""Files and streams that are written completely, and lines of input as messages show them."""
