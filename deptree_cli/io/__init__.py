"""Bytes to scores and sentences and back: lazy iterators, and what was not touched is written back unchanged.

A score file is opened by `formats`, read by one file per container (`arrays`, `archives`, `tensors`, `jsonl`), laid out
as ``[head, dependent]`` by `layout` and paired with CoNLL-U sentences (`conllu`) by `pairing`. `parsers` make scores;
`output`, `score_files` and `trees` write; `pictures` draws one sentence.
"""
