"""Programs of arcs; they move to second_order."""
