"""Views of the record of a run: a page of HTML, and text."""
