"""Other tokens for the same text: random files of one text, and treebanks some of whose words are split or joined."""

from __future__ import annotations

LABELS = ("nsubj", "nsubj:pass", "obj", "det", "case", "aux:pass", "punct", "root", "mark", "mine")
TAGS = ("NOUN", "VERB", "_")
FEATURES = ("_", "Case=Nom", "Number=Sing|Case=Nom", "Case=Nom|Number=Sing", "Foo=Bar", "Foo=Bar|Case=Nom")


def random_tree(n, rng):
    """Heads of n words, of any tree with one root or several."""
    order = rng.sample(range(1, n + 1), n)
    return [0 if order.index(word) == 0 else rng.choice([0, *order[: order.index(word)]]) for word in range(1, n + 1)]


def cut(items, rng, share):
    """A text in pieces: behind each character a cut with this probability."""
    pieces = [""]
    for at, char in enumerate(items):
        pieces[-1] += char
        if at + 1 < len(items) and rng.random() < share:
            pieces.append("")
    return pieces


def random_file(text, rng, named=False):
    """Sentences of a text with random tokens, multiword tokens, trees, tags, labels."""
    written = []
    for number, sentence in enumerate(cut(text, rng, 0.12)):
        rows = []
        for token in cut(sentence, rng, 0.5):
            spaced = token[:1] + "\u00a0 " + token[1:] if rng.random() < 0.1 and len(token) > 1 else token
            size = rng.choice((0, 0, 0, 2, 3)) if len(token) > 1 or rng.random() < 0.2 else 0
            first = sum(id_.isdigit() for id_, _ in rows) + 1
            if size:
                rows.append((f"{first}-{first + size - 1}", spaced))
            forms = [rng.choice(("a", "A", "b", "B", "c")) for _ in range(size)] or [spaced]
            rows += [(str(first + at), form) for at, form in enumerate(forms)]
            if rng.random() < 0.05:
                rows.append((f"{first + len(forms) - 1}.1", "empty"))
        tree = random_tree(sum(id_.isdigit() for id_, _ in rows), rng)
        lines = [_row(id_, form, tree, rng) for id_, form in rows]
        written.append(f"# sent_id = s{number}\n" * named + "".join(lines))
    return "\n".join(written) + "\n"


def _row(id_, form, tree, rng):
    if not id_.isdigit():
        return f"{id_}\t{form}" + "\t_" * 8 + "\n"
    cells = rng.choice(("l", "m", "_")), rng.choice(TAGS), rng.choice(TAGS), rng.choice(FEATURES)
    heads = rng.choices((*range(len(tree) + 1), "1.1"), k=rng.randint(1, 3))
    deps = "|".join(f"{head}:{rng.choice(LABELS)}" for head in (tree[int(id_) - 1], *heads))
    return "\t".join([id_, form, *cells, str(tree[int(id_) - 1]), rng.choice(LABELS), deps, "_"]) + "\n"


def damaged(text, share, rng, joins_sentences=False):
    """A treebank with this share of its words split in two, or joined with the next.

    Args:
        joins_sentences: whether as many sentences are also joined with the next.
    """
    sentences = [_damaged(each, share, rng) for each in text.strip("\n").split("\n\n")]
    if joins_sentences:
        at = len(sentences) - 1
        while at > 0:
            if rng.random() < share:
                sentences[at - 1 : at + 1] = [_joined(sentences[at - 1], sentences[at])]
            at -= 1
    return "\n\n".join(sentences) + "\n\n"


def _damaged(sentence, share, rng):
    comments, rows = _rows(sentence)
    ranges = [[*map(int, row[0].split("-"))] for row in rows if "-" in row[0]]
    covered, at = {str(word) for first, last in ranges for word in range(first, last + 1)}, 0
    while at < len(rows):
        row, following = rows[at], rows[at + 1] if at + 1 < len(rows) else ["", ""]
        single = row[0].isdigit() and row[0] not in covered
        if single and rng.random() < share:
            next_is_single = following[0].isdigit() and following[0] not in covered
            if len(row[1]) > 1 and (rng.random() < 0.5 or not next_is_single):
                place = rng.randrange(1, len(row[1]))
                rows[at : at + 1] = [
                    [*row[:1], row[1][:place], *row[2:]],
                    ["new", row[1][place:], *row[2:6], row[0], "dep", "_", "_"],
                ]
                at += 1
            elif next_is_single:
                rows[at : at + 2] = [[row[0], row[1] + following[1], *row[2:]]]
                _move_heads(rows, following[0], row[0], following[6])
        at += 1
    return "\n".join([*comments, *("\t".join(row) for row in _numbered(rows))])


def _move_heads(rows, gone, to, head):
    """Below a word that is no more hang those of the one that it is part of now; that one may not be below itself."""
    for row in rows:
        if row[6] == gone:
            row[6] = to if row[0] != to else head
    for row in rows:
        if row[0] == to and row[6] == to:
            row[6] = "0"


def _numbered(rows):
    """Rows with ids that are 1, 2, 3, ..., and heads that follow; of what became a cycle the head is ROOT."""
    rows = [row for row in rows if "." not in row[0]]
    words = [row for row in rows if "-" not in row[0]]
    number = {row[0]: str(count) for count, row in enumerate(words, 1)}
    for count, row in enumerate(words, 1):
        row[:] = str(count), *row[1:6], number.get(row[6], "0"), *row[7:8], "_", row[9] if len(row) > 9 else "_"
    for row in rows:
        if "-" in row[0]:
            row[0] = "-".join(number[each] for each in row[0].split("-"))
    for row in words:
        node, seen = int(row[0]), set()
        while node and node not in seen:
            seen.add(node)
            node = int(words[node - 1][6])
        if node:
            words[node - 1][6] = "0"
    return rows


def _joined(one, other):
    comments, rows = _rows(one)
    n = sum(row[0].isdigit() for row in rows)
    for row in _rows(other)[1]:
        row[0] = "-".join(str(int(each) + n) for each in row[0].split("-"))
        row[6] = str(int(row[6]) + n) if row[6].isdigit() and row[6] != "0" else row[6]
        rows.append(row)
    return "\n".join([*comments, *("\t".join(row) for row in rows)])


def _rows(sentence):
    lines = sentence.split("\n")
    return [each for each in lines if each[:1] == "#"], [each.split("\t") for each in lines if each[:1] != "#"]
