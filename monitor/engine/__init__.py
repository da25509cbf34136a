"""One evaluation as pure steps: a frozen plan and what has happened so far give what to do next."""
