"""Pictures of one sentence: `arcs` says what is drawn and where, `svg` draws it as SVG and TikZ, `text` as text."""
