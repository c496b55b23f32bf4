"""The page of `deptree report`: sentences packed for it, the page around them, and the marks that come back from it.

The page is HTML, style and scripts in `report/`, package data that is written into one file as it is.
"""
