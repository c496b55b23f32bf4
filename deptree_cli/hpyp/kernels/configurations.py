"""Configurations of the parser, the model's probabilities of what follows, the oracle, and sentences drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from deptree_cli.hpyp.kernels.columns import (
    ACTION,
    BELOW,
    BOTTOM,
    INDEX,
    LEFT,
    NEXT_TAG,
    NULL_SYMBOL,
    PREVIOUS,
    RECORD,
    RIGHT,
    ROOT,
    ROOT_SYMBOL,
    SHIFT,
    TAG,
    WORD,
)
from deptree_cli.hpyp.kernels.restaurants import MOST_LEVELS, predict_dish, predict_dishes
from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.elementary import log, total
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.orders import has_gap

# Arc-standard configurations as linked records: every action adds one, and none is ever changed.
#
# A record (`columns.py`) is the top of a stack; the one below it is another record, and so is the configuration before
# the last action. So configurations that come of one another share what they have in common, and a derivation can be
# read backwards from its last record.


class Arena(NamedTuple):
    """All records of a search, (size, RECORD) int32, and how many are used, (1,)."""

    records: Any
    used: Any


@kernel(allocates=True)
def new_arena(size):
    """Return room for this many records, with the bottom of all stacks and the stack of the root alone."""
    records = np.empty((size, RECORD), np.int32)
    records[: ROOT + 1] = 0
    records[BOTTOM, INDEX] = -1
    records[ROOT, TAG] = records[ROOT, WORD] = ROOT_SYMBOL
    return Arena(records, np.full(1, ROOT + 1))


@kernel(forceinline=True)
def shift(arena, top, index, tag, word):
    """Push the next word, of this position and these symbols, onto a stack; return the new top."""
    records, new = arena.records, arena.used[0]
    records[new, BELOW], records[new, INDEX] = top, index
    records[new, TAG], records[new, WORD] = tag, word
    records[new, LEFT], records[new, RIGHT] = 0, 0
    records[new, PREVIOUS], records[new, ACTION] = top, SHIFT
    arena.used[0] = new + 1
    return new


@kernel(forceinline=True)
def reduce(arena, top, action, labels):
    """Make a left-arc or right-arc, numbered among 2 * labels of them; return the new top."""
    records, new = arena.records, arena.used[0]
    second = records[top, BELOW]
    head, dependent, column = (top, second, LEFT) if action <= labels else (second, top, RIGHT)
    for each in (INDEX, TAG, WORD, LEFT, RIGHT):
        records[new, each] = records[head, each]
    records[new, column] = records[dependent, TAG]
    records[new, BELOW] = records[second, BELOW]
    records[new, PREVIOUS], records[new, ACTION] = top, action
    arena.used[0] = new + 1
    return new


@kernel(forceinline=True)
def context_of(arena, top, codes, next_tag, context):
    """Write the symbols of a configuration's context, null where there is no such word or child.

    codes: as in `columns.py`; next_tag: the tag of the word to be shifted next.
    """
    records = arena.records
    second = records[top, BELOW]
    third = records[second, BELOW]
    fourth = records[third, BELOW]
    for i in range(codes.shape[0]):
        code = codes[i]
        if code == NEXT_TAG:
            context[i] = next_tag
            continue
        depth, column = code // RECORD, code % RECORD
        if depth < 2:
            context[i] = records[top if depth == 0 else second, column]
        else:
            context[i] = records[third if depth == 2 else fourth, column]


@kernel(forceinline=True)
def is_alone(arena, top):
    """Return whether a stack has one node only: before the first word ROOT, and again after the last arc."""
    return arena.records[top, BELOW] == BOTTOM


@kernel(forceinline=True)
def legal(arena, top, words_left):
    """Return whether a configuration may shift, make a left-arc, make a right-arc.

    ROOT is nobody's dependent, and takes its one dependent at the very end.
    """
    second = arena.records[top, BELOW]
    has_two = second != BOTTOM
    under_root = has_two and arena.records[second, INDEX] == 0
    return words_left, has_two and not under_root, has_two and not (under_root and words_left)


@kernel
def read_tree(arena, last, labels, heads, deprels, tags):
    """Read a derivation backwards from its last record: heads, labels (from 0) and tags of the words, (n,) each."""
    records, top = arena.records, last
    while top > ROOT:
        before, action = records[top, PREVIOUS], records[top, ACTION]
        if action == SHIFT:
            tags[records[top, INDEX] - 1] = records[top, TAG]
        else:
            second = records[before, BELOW]
            is_left = action <= labels
            head, dependent = (before, second) if is_left else (second, before)
            word = records[dependent, INDEX] - 1
            heads[word] = records[head, INDEX]
            deprels[word] = action - 1 if is_left else action - labels - 1
        top = before


@kernel
def read_actions(arena, last, actions, tags):
    """Read a derivation backwards from its last record: its actions in order (steps,), and the tags of its words."""
    records, top, step = arena.records, last, actions.shape[0]
    while top > ROOT:
        step -= 1
        actions[step] = records[top, ACTION]
        if actions[step] == SHIFT:
            tags[records[top, INDEX] - 1] = records[top, TAG]
        top = records[top, PREVIOUS]


@kernel(allocates=True)
def with_room(arena, more):
    """Return the arena, moved into a larger one if this many more records have no place."""
    used = arena.used[0]
    if used + more <= arena.records.shape[0]:
        return arena
    larger = np.empty((2 * (used + more), RECORD), dtype=np.int32)
    larger[:used] = arena.records[:used]
    return Arena(larger, arena.used)


@kernel(allocates=True)
def tidied(arena, particles):
    """Return the arena with room for more: if half of it is used, only with those records that are still needed.

    particles: the items under way, whose tops are renumbered. They share most of what they came of: of the history of
    particles little is left but one line (Jacob, Murray and Rubenthaler 2015), while all records would take words times
    particles times the depth of stacks.
    """
    if arena.used[0] <= arena.records.shape[0] // 2:
        return arena
    records, tops, numbers = arena.records, particles.tops, np.zeros(arena.used[0], np.int64)
    numbers[BOTTOM] = numbers[ROOT] = 1
    for i in range(particles.used[0]):
        numbers[tops[i]] = 1
    for record in range(numbers.shape[0] - 1, ROOT, -1):
        if numbers[record] > 0:
            numbers[records[record, BELOW]] = numbers[records[record, PREVIOUS]] = 1
    arena.used[0] = 0
    for record in range(numbers.shape[0]):
        if numbers[record] > 0:
            numbers[record] = new = arena.used[0]
            records[new] = records[record]
            if record > ROOT:
                records[new, BELOW] = numbers[records[record, BELOW]]
                records[new, PREVIOUS] = numbers[records[record, PREVIOUS]]
            arena.used[0] += 1
    for i in range(particles.used[0]):
        tops[i] = numbers[tops[i]]
    return with_room(arena, 2 * arena.used[0])


# A generative parser at rest, and what it predicts in a configuration.


# The processes of a parser, by number; and how many events of each a word has.
ACTIONS, TAGS, WORDS = range(3)
EVENTS = 2, 1, 1

# The most tags of a word that are tried, where tags are predicted.
TRIED = 3


class Model(NamedTuple):
    """What kernels need of a parser.

    Attributes:
        tables: the `Predictions` of the three processes.
        roots: (3,) int64, the root of each in the tables; that of words is NONE where words are not generated.
        codes: three arrays, the elements of each one's contexts (`columns.py`).
        labels: the number of labels.
        tags: the number of tag symbols, null and the root's included.
    """

    tables: Any
    roots: Any
    codes: Any
    labels: Any
    tags: Any


class Predictor(NamedTuple):
    """A model, the words and tags of a sentence (n,), null for a tag that is not known, and room for predictions.

    context, path: of a configuration; action_probs, tag_probs: (2 labels + 1,) and (tags,); best: (TRIED,), tags.
    """

    model: Any
    words: Any
    tags: Any
    context: Any
    path: Any
    action_probs: Any
    tag_probs: Any
    best: Any


@kernel(allocates=True)
def new_predictor(model, words, tags):
    """Return the predictor of a sentence."""
    context, path, best = np.empty(MOST_LEVELS, np.int32), np.empty(MOST_LEVELS, np.int64), np.empty(TRIED, np.int64)
    return Predictor(model, words, tags, context, path, np.empty(2 * model.labels + 1), np.empty(model.tags), best)


# What hands a whole predictor on is inlined: its arrays are two hundred arguments.


@kernel(forceinline=True)
def write_context(predictor, process, arena, top, next_tag):
    """Write the context of a configuration for one of the processes into predictor.context; return its length."""
    codes = predictor.model.codes[process]
    context_of(arena, top, codes, next_tag, predictor.context)
    return codes.shape[0]


@kernel(forceinline=True)
def predict(predictor, process, arena, top, next_tag, probs):
    """Write the probabilities of everything that a process may bring next, (dishes,)."""
    context = predictor.context[: write_context(predictor, process, arena, top, next_tag)]
    predict_dishes(predictor.model.tables, predictor.model.roots[process], context, predictor.path, probs)


@kernel(forceinline=True)
def predict_actions(predictor, arena, top):
    """Write the probabilities of all actions into predictor.action_probs."""
    predict(predictor, ACTIONS, arena, top, 0, predictor.action_probs)


@kernel(forceinline=True)
def predict_tags(predictor, arena, top, index):
    """Write the probability that a shift brings word `index` with its tag, or if that is null with each, but for null.

    They are written into predictor.tag_probs, that of null being 0; of a model without words they are those of tags.
    Returns the first tag and the one behind the last, and their sum.
    """
    tables, roots, probs = predictor.model.tables, predictor.model.roots, predictor.tag_probs
    tag, word = predictor.tags[index - 1], predictor.words[index - 1]
    if tag == NULL_SYMBOL:
        first, stop = ROOT_SYMBOL + 1, predictor.model.tags
        predict(predictor, TAGS, arena, top, 0, probs)
    else:
        first, stop = tag, tag + 1
        context = predictor.context[: write_context(predictor, TAGS, arena, top, 0)]
        probs[tag] = predict_dish(tables, roots[TAGS], context, predictor.path, tag)
    probs[NULL_SYMBOL], mass = 0.0, 0.0
    for each in range(first, stop):
        if roots[WORDS] >= 0:
            context = predictor.context[: write_context(predictor, WORDS, arena, top, each)]
            probs[each] *= predict_dish(tables, roots[WORDS], context, predictor.path, word)
        mass += probs[each]
    return first, stop, mass


# Derivations of projective trees, and the events that they consist of, with their probability.


class Tree(NamedTuple):
    """A projective tree: heads and labels (n,), how many labels there are, and every node's rightmost dependent.

    rightmost: (n + 1,), the node itself if it has no dependent to the right.
    """

    heads: Any
    deprels: Any
    labels: Any
    rightmost: Any


@kernel(allocates=True)
def tree_of(heads, deprels, labels):
    """Return the tree of heads and labels."""
    rightmost = np.arange(heads.shape[0] + 1)
    for word in range(1, heads.shape[0] + 1):
        rightmost[heads[word - 1]] = max(rightmost[heads[word - 1]], word)
    return Tree(heads, deprels, labels, rightmost)


@kernel(forceinline=True)
def choices(arena, top, shifted, tree):
    """Return whether a derivation of a projective tree may shift, and the reduction it may make, else SHIFT.

    shifted: how many words are. A left-arc may wait while its head lacks dependents on the right; a right-arc may not
    (Buys and Blunsom 2015, section 2). So the second word lacks none on the left, and none on the right once the last
    of them is shifted and not the top.
    """
    records, heads, rightmost = arena.records, tree.heads, tree.rightmost
    first, second = records[top, INDEX], records[records[top, BELOW], INDEX]  # the second is -1 if ROOT is alone
    if second > 0 and heads[second - 1] == first:
        if rightmost[second] <= shifted:
            return rightmost[first] > shifted, 1 + tree.deprels[second - 1]
    elif second >= 0 and heads[first - 1] == second and rightmost[first] <= shifted:
        return False, 1 + tree.labels + tree.deprels[first - 1]
    return shifted < heads.shape[0], SHIFT


@kernel(allocates=True)
def derive(cuts, heads, deprels, labels, actions):
    """Write the derivations of projective trees, which make every arc as soon as they can; return whether all have one.

    cuts: where the words of each sentence begin, (sentences + 1,); heads: (words,), 0 = ROOT; deprels: (words,), labels
    from 0; labels: how many there are; actions: (2 words,), written. A derivation begins with ROOT alone on the stack,
    so n words are shifted and n arcs made.
    """
    every = True
    for sentence in range(cuts.shape[0] - 1):
        start, n = cuts[sentence], cuts[sentence + 1] - cuts[sentence]
        tree = tree_of(heads[start : start + n], deprels[start : start + n], labels)
        arena, top, index = new_arena(2 * n + 2), ROOT, 0
        for step in range(2 * start, 2 * (start + n)):
            may_shift, actions[step] = choices(arena, top, index, tree)
            if actions[step] != SHIFT:
                top = reduce(arena, top, actions[step], labels)
            elif may_shift:
                index += 1
                top = shift(arena, top, index, NULL_SYMBOL, NULL_SYMBOL)
            else:
                every = False
                break
    return every


@kernel(allocates=True)
def record_events(cuts, words, tags, labels, actions, codes):
    """Return the contexts of the events of derivations: of actions (2 words, L), tags and words (words, L), int32.

    cuts: where the words of each sentence begin, (sentences + 1,); words, tags: (words,) symbols; actions: (2 words,);
    codes: three arrays (L,). Events are in the order of sentences and of each one's derivation.
    """
    n = words.shape[0]
    of_actions, of_tags = np.empty((2 * n, codes[0].shape[0]), np.int32), np.empty((n, codes[1].shape[0]), np.int32)
    of_words = np.empty((n, codes[2].shape[0]), np.int32)
    for sentence in range(cuts.shape[0] - 1):
        start, stop = cuts[sentence], cuts[sentence + 1]
        arena, top, word = new_arena(2 * (stop - start) + 2), ROOT, start
        for step in range(2 * start, 2 * stop):
            context_of(arena, top, codes[0], 0, of_actions[step])
            if actions[step] == SHIFT:
                context_of(arena, top, codes[1], 0, of_tags[word])
                context_of(arena, top, codes[2], tags[word], of_words[word])
                top = shift(arena, top, word - start + 1, tags[word], words[word])
                word += 1
            else:
                top = reduce(arena, top, actions[step], labels)
    return of_actions, of_tags, of_words


@kernel(allocates=True)
def replay(model, words, tags, actions, log_probs):
    """Add the log-probabilities of a derivation's actions, tags and words to log_probs (3,), in nats.

    words, tags: (n,) symbols; actions: (2 n,), a derivation of a tree. Words that are not generated add nothing. What
    impossible actions would have had is not shared out among the others.
    """
    cuts, dishes = np.array([0, words.shape[0]]), (actions, tags, words)
    contexts = record_events(cuts, words, tags, model.labels, actions, model.codes)
    path = np.empty(MOST_LEVELS, np.int64)
    for process in range(3):
        root = model.roots[process]
        for event in range(dishes[process].shape[0] if root >= 0 else 0):
            prob = predict_dish(model.tables, root, contexts[process][event], path, dishes[process][event])
            log_probs[process] += log(prob)


# Trees made projective: arcs are lifted until none crosses another (Nivre and Nilsson 2005).


@kernel(allocates=True)
def projectivise(heads):
    """Make a tree projective in place and return the number of lifts.

    heads: int32 (n,), 0 = ROOT, a tree. The shortest arc with a gap is lifted to its head's head until
    there is none, that is, until every head is above all words under its arcs; of equally short arcs the
    one with the leftmost dependent comes first.
    """
    n = heads.shape[0]
    with_gap = np.empty(n, np.bool_)
    for i in range(n):
        with_gap[i] = has_gap(heads, i)
    lifts = 0
    while True:
        lifted = -1
        for i in range(n):
            if with_gap[i] and (lifted < 0 or abs(heads[i] - i - 1) < abs(heads[lifted] - lifted - 1)):
                lifted = i
        if lifted < 0:
            return lifts
        old = heads[lifted]
        heads[lifted] = heads[old - 1]
        lifts += 1
        # Only the old head has lost words, so only its other arcs can have a gap now that had none before.
        for i in range(n):
            if i == lifted or heads[i] == old:
                with_gap[i] = has_gap(heads, i)


# Sentences with their trees, drawn from the model.


@kernel(allocates=True)
def generate(model, longest, words_known, state, words, tags, heads, deprels):
    """Draw a sentence of at most `longest` words; return how many it has, 0 if it would have had more.

    words_known: how many word symbols there are. words, tags, heads, deprels (labels from 0): (longest,) int32. The
    sentence ends when ROOT takes its one dependent. Impossible actions and null symbols are not drawn: a word under
    ROOT is not its head.
    """
    predictor = new_predictor(model, words, tags)
    weights, probs = np.empty(words_known), predictor.action_probs
    arena, top, index = new_arena(2 * longest + 3), ROOT, 0
    while top == ROOT or not is_alone(arena, top):
        action = SHIFT
        if top != ROOT:
            predict_actions(predictor, arena, top)
            if is_alone(arena, arena.records[top, BELOW]):
                probs[1 : model.labels + 1] = 0.0
            action = draw_categorical(probs, 0, probs.shape[0], total(probs), state)
        if action != SHIFT:
            top = reduce(arena, top, action, model.labels)
        elif index == longest:
            return 0
        else:
            tag, word = draw_symbol(predictor, TAGS, arena, top, 0, predictor.tag_probs, state), 0
            if model.roots[WORDS] >= 0:
                word = draw_symbol(predictor, WORDS, arena, top, tag, weights, state)
            words[index] = word
            index += 1
            top = shift(arena, top, index, tag, word)
    read_tree(arena, top, model.labels, heads[:index], deprels[:index], tags[:index])
    return index


@kernel(allocates=True)
def draw_symbol(predictor, process, arena, top, tag, weights, state):
    """Return a tag or a word drawn in a configuration; never null, which stands for what is not known."""
    predict(predictor, process, arena, top, tag, weights)
    weights[: ROOT_SYMBOL + 1] = 0.0
    return draw_categorical(weights, 0, weights.shape[0], total(weights), state)
