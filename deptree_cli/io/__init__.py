"""Bytes to scores and sentences and back: lazy iterators, and what was not touched is written back unchanged.

`streams` opens what the user named, and `output` writes it. `scores` reads score files, in any container and layout,
pairs them with sentences and makes distributions of them; `conllu` reads sentences and splices trees into them;
`parsers` makes scores; `pictures` draws one sentence.
"""
