"""Trees with their words in preorder: each behind its head, with all that descend from it right behind it.

`above` (n,) has the place of each word's head in that order, -1 for a root. Words have lost their places in the
sentence; a subtree is a slice.
"""

from __future__ import annotations

from deptree_cli.kernels.flags import kernel


@kernel
def in_preorder(heads, first, following, places, above):
    """Fill in above (n,) of heads (n,); the trees of several roots come one behind the other.

    first, following, places: (n+1,), room.
    """
    n = heads.shape[0]
    first[: n + 1] = 0
    for word in range(n, 0, -1):
        following[word] = first[heads[word - 1]]
        first[heads[word - 1]] = word
    places[0] = -1
    word, place = first[0], 0
    while word != 0:
        places[word] = place
        above[place] = places[heads[word - 1]]
        place += 1
        if first[word] != 0:
            word = first[word]
        else:
            while word != 0 and following[word] == 0:
                word = heads[word - 1]
            word = following[word] if word != 0 else 0


@kernel
def subtree_sizes(above, sizes):
    """Fill in how many words each subtree has, (n,)."""
    n = above.shape[0]
    sizes[:n] = 1
    for place in range(n - 1, -1, -1):
        if above[place] >= 0:
            sizes[above[place]] += sizes[place]


@kernel
def centroid(sizes, n):
    """Return a word of a tree of n words without which no part has more than half of them.

    The last whose subtree has more: such words follow each other down from the root.
    """
    found = 0
    for place in range(n):
        if 2 * sizes[place] > n:
            found = place
    return found


@kernel
def reroot(above, sizes, root, places, rerooted):
    """Fill in the same tree below another root, (n,); and the new places of words, (n,)."""
    done, below, word = 0, -1, root
    while word >= 0:
        places[word] = done
        rerooted[done] = places[below] if below >= 0 else -1
        done += 1
        place, end = word + 1, word + sizes[word]
        while place < end:
            if place == below:
                place += sizes[below]
            else:
                places[place] = done
                rerooted[done] = places[above[place]]
                done += 1
                place += 1
        below, word = word, above[word]
