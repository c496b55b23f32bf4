"""The page of `deptree report`: sentences packed for it, and the page around them.

The page is HTML, style and scripts in `report/`, package data that is written into one file as it is.
"""
