"""Pictures of one sentence: arcs over its words as SVG or as text.

`arcs` says what is drawn, `geometry` where, `forms` how words are shown; `svg` and `text` draw.
"""
