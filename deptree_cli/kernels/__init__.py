"""The ground floor: numba kernels, plain loops over arrays, results written into what they are handed.

Kernels trust their input: nothing here validates, prints or knows a sentence. All of them compile under the flags of
`flags.py`; random bits come from the generator state of `random.py`; the sweeps that may leave the range of float64 are
written once over the two kinds of numbers of `numbers.py`.
"""
