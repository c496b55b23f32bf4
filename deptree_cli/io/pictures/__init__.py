"""Pictures of one sentence: arcs over its words as SVG or as text, and the heat map of its marginals.

`arcs` says what is drawn, `geometry` where, `forms` how words are shown; `svg`, `text` and `heat_map` draw.
"""
