"""Small restaurants and parsers for tests: as kernels have them, and in the terms of the references."""

import io
import itertools
from collections import defaultdict
from functools import cache

import numpy as np

from deptree_cli.hpyp.kernels import restaurants as kernel
from deptree_cli.hpyp.kernels.configurations import Model
from deptree_cli.hpyp.kernels.restaurants import NONE
from deptree_cli.hpyp.model.process import Process, predictions
from deptree_cli.hpyp.model.sentences import LEXICALISED, NAMES, UNLEXICALISED, Annotated
from deptree_cli.hpyp.model.training import STATIC, Progress, Trained, Training, TrainingSettings
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary
from tests.hpyp import reference
from tests.hpyp.reference import Franchise
from tests.pearson import chi_square
from tests.tree_files import read_blocks


def as_arrays(*sequences):
    """Numbers as kernels take them."""
    return [np.array(sequence, dtype=np.int32) for sequence in sequences]


def sizes_of(restaurants, entry):
    """The sizes of the tables of a dish, in falling order."""
    _, _, customers, tables, at = restaurants.entries[entry].tolist()
    if tables < 2:
        assert at == NONE
        return (customers,) * tables
    found = []
    while at != NONE:
        size, count, at = restaurants.bins[at].tolist()
        found += [size] * count
    assert (sum(found), len(found)) == (customers, tables)
    return tuple(sorted(found, reverse=True))


def seating_of(restaurants):
    """The tables of each restaurant and dish; sums of customers and tables must be what the node says."""
    found, prefixes = [], {0: ()}
    # Children are made after their parents.
    for child, key in sorted((child, key) for key, child in restaurants.children.tolist() if key != NONE):
        prefixes[child] = (*prefixes[key >> kernel.BITS], key & ((1 << kernel.BITS) - 1))
    for node, prefix in prefixes.items():
        customers, tables, entry, level = restaurants.nodes[node].tolist()
        assert level == len(prefix)
        here = []
        while entry != NONE:
            here.append(((prefix, int(restaurants.entries[entry, kernel.DISH])), sizes_of(restaurants, entry)))
            entry = int(restaurants.entries[entry, kernel.NEXT])
        assert (sum(sum(sizes) for _, sizes in here), sum(len(sizes) for _, sizes in here)) == (customers, tables)
        found += [(event, sizes) for event, sizes in here if sizes]
    return tuple(sorted(found))


def franchise_of(restaurants, events=None):
    """The same seating in a reference, which checks that it fits the events."""
    hyper = restaurants.discounts.tolist(), restaurants.strengths.tolist()
    found = Franchise(round(1 / restaurants.base[0]), *hyper, seating_of(restaurants))
    if events is not None:
        found.check(events)
    return found


def check_law(found, probs):
    """H0: what is counted was drawn by these probabilities, up to their sum; p < 1e-6 by chance."""
    assert set(found) <= set(probs)
    expected = np.array(list(probs.values()))
    assert chi_square(np.array([found[each] for each in probs]), expected / expected.sum())[2] > 1e-6


def random_events(number, levels, symbols, vocabulary, seed):
    """Events with contexts of levels - 1 symbols from 0 on; small numbers are frequent."""
    rng, sizes = np.random.default_rng(seed), [symbols] * (levels - 1) + [vocabulary]
    drawn = (sizes * rng.random((number, levels)) ** 2).astype(int).tolist()
    return [(tuple(context), dish) for *context, dish in drawn]


def indexed(process, events):
    """The paths of events, which are made where they are new."""
    contexts = np.array([context for context, _ in events], dtype=np.int32)
    return process.index(contexts, np.array([dish for _, dish in events], dtype=np.int32))


class Tables:
    """The restaurants of some events, looked up and nobody seated, with room for all their tables."""

    def __init__(self, vocabulary, discounts, strengths, events):
        process, self.events = Process(len(discounts) - 1, vocabulary), list(events)
        process.restaurants.discounts[:], process.restaurants.strengths[:] = discounts, strengths
        self.paths = indexed(process, events)
        process.make_room(bins=4096)
        self.restaurants = process.restaurants

    def add(self, event, state):
        return float(kernel.add(self.restaurants, self.paths.nodes[event], self.paths.entries[event], state))

    def remove(self, event, state):
        kernel.remove(self.restaurants, self.paths.nodes[event], self.paths.entries[event], state)

    def seating(self):
        return seating_of(self.restaurants)

    def franchise(self, seated):
        """The same seating in a reference, which checks that it fits the events of these numbers."""
        return franchise_of(self.restaurants, [self.events[number] for number in seated])


# Whether the parser has words, and which tags of a sentence are known.
KINDS = (True, "all tags"), (True, "no tags"), (True, "some tags"), (False, "all tags"), (False, "some tags")
FIRST = 2  # 0 and 1 stand for what is missing and for the root


class Toy:
    """A trained parser: a `model` for kernels, made of `restaurants`, and a `reference` with the same probabilities."""

    labels, tags, words = 2, 5, 6  # how many labels there are, and symbols with those of numbers 0 and 1

    def __init__(self, seed, lexicalised=True):
        self.rng, self.lexicalised = np.random.default_rng(seed), lexicalised
        self.contexts = LEXICALISED if lexicalised else UNLEXICALISED
        events, sizes = defaultdict(list), {"action": 2 * self.labels + 1, "tag": self.tags, "word": self.words}
        for _ in range(12):
            for name, event in self._events():
                events[name].append(event)
        processes = {name: self._trained(events[name], size - (name != "action")) for name, size in sizes.items()}
        self.restaurants = tuple(process.restaurants for process in processes.values())
        if not lexicalised:
            del processes["word"]
        tables, roots = predictions([one.at_rest() for one in processes.values()], [sizes[name] for name in processes])
        codes = tuple(self.contexts.codes(name) for name in NAMES)
        self.model = Model(tables, np.array([*roots, NONE][:3], dtype=np.int64), codes, self.labels, self.tags)
        distributions = [read_off(process, sizes[name]) for name, process in processes.items()]
        elements = [getattr(self.contexts, name) for name in NAMES]
        self.reference = reference.Model(self.labels, *distributions, *[None] * (3 - len(distributions)), *elements)

    def sentence(self, n, known="all tags"):
        """Random words and tags, null for those that are not known; with some tags, every other one is."""
        words, tags = (self.rng.integers(FIRST, high, n).tolist() for high in (self.words, self.tags))
        is_known = {"all tags": (True, True), "no tags": (False, False), "some tags": (True, False)}[known]
        return words, [tag if is_known[place % 2] else 0 for place, tag in enumerate(tags)]

    def candidates(self, tags):
        """All tags for each word whose own is not known."""
        return [[tag] if tag else list(range(FIRST, self.tags)) for tag in tags]

    def _events(self):
        """Those of a random derivation of a random sentence; half of its actions are the first that are legal."""
        words, tags = self.sentence(int(self.rng.integers(1, 6)))
        configuration = reference.Configuration(len(words), self.labels)
        while legal := configuration.legal():
            action = int(self.rng.choice(legal)) if self.rng.random() < 0.5 else legal[0]
            shifted = configuration.shifted
            yield "action", (configuration.context(self.contexts.action, words, tags), action)
            if action == reference.SHIFT:
                yield "tag", (configuration.context(self.contexts.tag, words, tags), tags[shifted])
                yield "word", (configuration.context(self.contexts.word, words, tags), words[shifted])
            configuration = configuration.after(action)

    def _trained(self, events, choices):
        """A process with everybody seated, and some level-specific discounts and strengths."""
        length = len(events[0][0])
        process = Process(length, choices)
        process.restaurants.discounts[:] = self.rng.uniform(0.2, 0.9, length + 1)
        process.restaurants.strengths[:] = self.rng.uniform(0, 2, length + 1)
        paths, cuts, order = indexed(process, events), np.array([0, len(events)]), np.zeros(1, dtype=np.int64)
        state = self.rng.integers(2**63, size=4).astype(np.uint64)
        for seated in (False, True):
            process.sweep(paths, cuts, order, seated, state)
        return process


def read_off(process, size):
    """The distribution of a process by the reference's formula, each context worked out once."""
    franchise = franchise_of(process.restaurants)
    return cache(lambda context: [franchise.prob(context, dish) for dish in range(size)])


def trained_of(toy):
    """A toy as a parser: words are w2, w3, ..., tags t2, t3, ..., labels l0, l1, ..."""
    words = Vocabulary(tuple(f"w{number}" for number in range(FIRST, toy.words)) if toy.lexicalised else ())
    tags = Vocabulary(tuple(f"t{number}" for number in range(FIRST, toy.tags)))
    labels = tuple(f"l{number}" for number in range(toy.labels))
    found = Trained(Symbols(Lexicon(words), tags, labels, toy.contexts), (), Progress(0, STATIC, "upos", "", 0, 0))
    vars(found)["model"] = toy.model  # what is cached there is made of the processes otherwise
    return found


def sentence_of(words, tags, tree=()):
    """A sentence of a toy's words and tags; tree: head and label (from 1) of every word, nothing if it is not known."""
    n = len(words)
    heads = np.array([head for head, _ in tree] or [-1] * n, dtype=np.int32)
    deprels = tuple(f"l{label - 1}" for _, label in tree) or ("_",) * n
    forms, tagged = tuple(f"w{word}" for word in words), tuple(f"t{tag}" for tag in tags)
    return Annotated("toy", "", forms, tagged, heads, deprels)


def blocks_of(data):
    """The sentences in the bytes of CoNLL-U."""
    return list(read_blocks(io.BytesIO(data), "output"))


# A treebank of nine sentences and a text of four, and training on them.

TREES = [
    "the/DET:det:2 dog/NOUN:nsubj:3 sleeps/VERB:root:0",
    "the/DET:det:2 cat/NOUN:nsubj:3 sees/VERB:root:0 the/DET:det:5 dog/NOUN:obj:3 today/ADV:advmod:3",
    "she/PRON:nsubj:2 sees/VERB:root:0 a/DET:det:4 cat/NOUN:obj:2",
    "sleep/VERB:root:0",
    "we/PRON:nsubj:4 all/DET:det:1 soon/ADV:advmod:4 sleep/VERB:root:0 here/ADV:advmod:4 now/ADV:advmod:4",
    "big/ADJ:amod:2 dogs/NOUN:nsubj:3 eat/VERB:root:0 cats/NOUN:obj:3 in/ADP:case:6 barns/NOUN:obl:3",
    "two/NUM:nummod:2 cats/NOUN:root:0 on/ADP:case:4 chairs/NOUN:nmod:2",
    "Anna/PROPN:nsubj:2 sang/VERB:root:0 him/PRON:iobj:2 one/NUM:nummod:5 song/NOUN:obj:2",
    "a/DET:det:3 big/ADJ:amod:3 dog/NOUN:root:0 of/ADP:case:6 the/DET:det:6 cat/NOUN:nmod:3 there/ADV:advmod:3",
]
TEXT = ["the dog sees a cat there", "sleep", "a big cat sleeps", "she sees the dog of the cat today"]


def annotated(line, number=1):
    """A sentence of words as ``form/tag:label:head``, or of forms alone."""
    cells = [(word.replace("/", ":") if "/" in word else f"{word}:_:_:-1").split(":") for word in line.split()]
    forms, tags, deprels, heads = zip(*cells, strict=True)
    return Annotated(f"s{number}", "", forms, tags, np.array(heads, dtype=np.int32), deprels)


TREEBANK = [annotated(line, number) for number, line in enumerate(TREES)]
UNLABELLED = [annotated(line, number) for number, line in enumerate(TEXT * 3)]


def begun(oracle=STATIC, contexts=LEXICALISED, text=(), trained=None):
    """Training on the small treebank."""
    return Training(TREEBANK, contexts, TrainingSettings(3, oracle, "upos"), text, trained)


def run(training, iterations, passes=0):
    """Train until there have been so many iterations and passes."""
    while training.progress.iterations < iterations:
        training.iterate()
    while training.progress.passes < passes:
        training.read()
    return training.trained()


def numbers(trained):
    arrays = [array for process in trained.processes for array in process.arrays().values()]
    return [*arrays, trained.derivations, *(trained.parses or ())]


def names(trained):
    symbols = trained.symbols
    return trained.progress, symbols.lexicon.vocabulary, symbols.tags, symbols.labels, symbols.contexts


def same(one, other):
    """Whether two parsers are the same in every number and name."""
    pairs = itertools.zip_longest(numbers(one), numbers(other))
    return names(one) == names(other) and all(np.array_equal(*pair) for pair in pairs)
