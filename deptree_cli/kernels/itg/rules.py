"""The grammar: which items a bispan has, in which tables they stand, and of which rows every rule is a sum of products.

    straight       A -> [T (B + C + D)]      the halves keep their order on the target side
    inverted       B -> <T (A + C + D)>      the halves change places
    terminal       C -> e/f | e/eps | eps/f  a link, an unlinked source word, an unlinked target word
    three          D -> the six orders of T T T, with branching 3 only

and T = A + B + C + D. That the right child of A is no A, and that of B no B, is Wu's (1997) normal form: sequences that
are straight or inverted throughout are built in one way. Every order of three children has two neighbours that stay
neighbours, which are summed first, so D costs O(p^3 q^3) as A and B do and not O(p^4 q^4):

    pairs          P = [T T],  Q = <T T>
    three          D = [(P + Q) T] + <(P + Q) T> + [T Q] + <T P>
"""

from __future__ import annotations

import numpy as np

# Tables of a chart: of items over a bispan, by the number of its target span in one order or the other.
TOTAL = 0  # T
TOTAL_BY_END = 1
NOT_STRAIGHT_BY_END = 2  # B + C + D
NOT_INVERTED = 3  # A + C + D
PAIR = 4  # P + Q
PAIR_BY_END = 5
INVERTED_PAIR_BY_END = 6  # Q
STRAIGHT_PAIR = 7  # P

# How many tables there are, by the branching.
TABLES = {2: 4, 3: 8}

# A line for each order of two children, straight and inverted: where their values stand. The left child of a straight
# rule begins where the whole begins on the target side, that of an inverted one ends where it ends, so that either is
# looked up by the end that it shares with the whole.
ORDERS = np.array(
    [
        [TOTAL, TOTAL_BY_END, NOT_STRAIGHT_BY_END, PAIR, INVERTED_PAIR_BY_END],
        [TOTAL_BY_END, TOTAL, NOT_INVERTED, PAIR_BY_END, STRAIGHT_PAIR],
    ]
)
# Its columns: T of the left and of the right child on the source side; what A or B has for its right child; what D has.
LEFT, RIGHT, NORMAL_RIGHT, LEFT_PAIR, RIGHT_PAIR = range(5)

# A line for each rule: its order, and the tables of its left and of its right child.
_CHILDREN = (LEFT, NORMAL_RIGHT), (LEFT_PAIR, RIGHT), (LEFT, RIGHT_PAIR), (LEFT, RIGHT)
RULES = np.array([[order, *ORDERS[order, children]] for children in _CHILDREN for order in range(2)])
STRAIGHT, INVERTED, THREE, STRAIGHT_OF_TWO, INVERTED_OF_TWO = 0, 1, 2, 6, 7

# The number of tables with which the rules THREE to STRAIGHT_OF_TWO - 1, which make D, and the pairs are there.
WITH_THREE = TABLES[3]
