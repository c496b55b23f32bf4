"""Charts of dynamic programs over spans: sums inside and outside, and what is read off a chart from its top down."""

from deptree_cli.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
