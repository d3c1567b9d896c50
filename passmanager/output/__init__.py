"""Files, streams and pages that are written."""
