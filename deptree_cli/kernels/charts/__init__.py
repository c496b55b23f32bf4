"""Charts of dynamic programs over spans: sums inside and outside, and what is read off a chart from its top down."""
