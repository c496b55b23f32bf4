/* What is said of the sentence in words. */

/* The head of a word in the tree, which need be no word. */
const treeHead = (sentence, word) =>
  sentence.tree[word - 1] > sentence.n
    ? `${sentence.heads[word - 1]} (no word)`
    : headName(sentence, sentence.tree[word - 1]);

/* A word, to those who cannot see its arcs. */
function described(view, word) {
  const { sentence } = view,
    head = view.tree[word - 1],
    p = view.probs[word * (sentence.n + 1) + head],
    repaired = sentence.repaired[word - 1] && ", repaired",
    broken = brokenAt(sentence, word).length ? `, breaks ${brokenNote(sentence, word)}` : "";
  const known = sentence.scored
    ? `${headName(sentence, head)}, probability ${probability(p)}`
    : treeHead(sentence, word);
  return `${headName(sentence, word)}, head ${known}${repaired}${broken}`;
}

/* The label of an arc: the annotated one, else the likeliest by scores, else none. */
function arcLabel(view, arc) {
  const { sentence } = view,
    word = arc.dependent - 1,
    labels = view.labels.get(`${arc.head} ${arc.dependent}`);
  const isAnnotated = sentence.annotated[word] && sentence.tree[word] === arc.head && sentence.deprels[word] !== "_";
  if (isAnnotated) return shownForm(sentence.deprels[word]);
  return labels ? shownForm(labels[0][0]) : "";
}

/* Which tree is drawn, how probable it is, and what is not drawn. */
function captionOf(view, arcs) {
  const { sentence } = view;
  if (view.sample) return sampleName(view);
  if (!sentence.scored) return `Heads of the CoNLL-U; ${counted(sentence.n, "word")}`;
  const given = view.given.size > 0,
    known = given || view.shows === "best" ? "" : `, ${treeProbability(sentence.logProb)}`;
  const weights = given && withHeads(view.numbers, sentence.n, view.given),
    entropy = given ? entropyOf(weights, sentence.n, view.sums) : sentence.entropy;
  return `${treeName(view)}${known}; ${counted(sentence.n, "word")}; entropy ${entropy.toFixed(2)} nats${hiddenNote(view, arcs)}`;
}

function treeName(view) {
  if (view.shows === "best") return "Most probable tree";
  const whole = view.sentence.annotated.every(Boolean);
  return whole ? "Tree of the CoNLL-U" : "Heads of the CoNLL-U and, without one, of the most probable tree";
}

function sampleName(view) {
  const { samples, n } = view.sentence;
  return `Sample ${view.drawnSamples}${samples.length && !view.given.size ? ` of ${samples.length / n}` : ""}`;
}

function hiddenNote(view, arcs) {
  const drawn = new Set(arcs.map((arc) => arc.dependent * (view.sentence.n + 1) + arc.head));
  let hidden = 0,
    heaviest = 0;
  view.probs.forEach((p, arc) => {
    if (p < LEAST / 10 || drawn.has(arc)) return;
    hidden++;
    heaviest = Math.max(heaviest, p);
  });
  return hidden ? `; ${counted(hidden, "arc")} hidden (at most ${probability(heaviest)})` : "";
}
