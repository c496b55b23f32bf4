/* What Python packed, read: sentences with their words, and the numbers of each when they are asked for. */

/* The columns of CoNLL-U; those of CoNLL-U Plus come with the sentences. */
const TEN = ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];

function bytesOf(base64) {
  const text = atob(base64),
    bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/* Numbers are little-endian, as on every machine that runs a browser. */
const unpacked = (type, base64) => new type(bytesOf(base64).buffer);

/* Hands out the parts of an array one after another. */
function parts(array) {
  let at = 0;
  return (size) => array.subarray(at, (at += size));
}

/* The rows of words with an integer id, each with its columns. */
function wordRows(conllu) {
  return conllu
    .split("\n")
    .filter((line) => /^\d+\t/.test(line))
    .map((line) => line.replace(/\r$/, "").split("\t"));
}

/* A form without what cannot be shown, `_` where nothing is left; embeddings would never be closed. */
function shownForm(form) {
  return form.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, "").trim() || "_";
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const isRightToLeft = (text) => RIGHT_TO_LEFT.test(text);

/* A form for a line with more behind it: a mark keeps numbers out of the run of a right-to-left word. */
const amongOthers = (form) => (isRightToLeft(form) ? `${form}\u200e` : form);

/* All sentences. Heads are arrays of n numbers, 0 for ROOT; words count from 1. */
function readSentences(data) {
  const arrays = new Proxy(data.arrays, { get: (packed, name) => packed[name] || "" }), // without scores there are few
    lengths = unpacked(Uint16Array, arrays.lengths);
  const bits = parts(bytesOf(arrays.masks)),
    floats = parts(unpacked(Float32Array, arrays.numbers));
  const trees = parts(unpacked(Uint16Array, arrays.trees)),
    best = parts(unpacked(Uint16Array, arrays.best));
  const gold = arrays.gold && parts(unpacked(Uint16Array, arrays.gold));
  const treeProbs = parts(unpacked(Uint16Array, arrays.treeProbs)),
    bestProbs = parts(unpacked(Uint16Array, arrays.bestProbs));
  const computes = bytesOf(arrays.computes),
    facts = parts(unpacked(Float64Array, arrays.facts));
  const labelCounts = unpacked(Uint32Array, arrays.labelCounts),
    labels = parts(unpacked(Uint16Array, arrays.labels));
  const sampleCounts = unpacked(Uint32Array, arrays.sampleCounts),
    samples = parts(unpacked(Uint16Array, arrays.samples));
  const columns = data.columns,
    values = (rows, name) => rows.map((row) => row[columns.indexOf(name)] ?? "_");
  return data.ids.map((id, index) => {
    const n = lengths[index],
      rows = wordRows(data.conllu[index]),
      forms = values(rows, "form");
    const mask = bits(Math.ceil(((n + 1) * n) / 8)),
      set = countBits(mask);
    const [entropy, logProb, projective, doubt, bestErrors] = facts(5);
    return {
      index,
      id,
      n,
      conllu: data.conllu[index],
      columns,
      computes: computes[index] === 1,
      forms: forms.map(shownForm),
      upos: values(rows, "upos"),
      deprels: values(rows, "deprel"),
      heads: values(rows, "head"),
      annotated: values(rows, "head").map((head) => head !== "_"),
      scored: data.hasScores,
      tree: trees(n),
      best: best(n),
      gold: gold ? gold(n) : null,
      treeProbs: treeProbs(n),
      bestProbs: bestProbs(n),
      mask,
      floats: floats(set),
      labels: labels(4 * labelCounts[index]),
      samples: samples(n * (sampleCounts[index] || 0)),
      entropy,
      logProb,
      projective,
      doubt,
      bestErrors,
      broken: data.broken[index] || [],
      repaired: values(rows, "misc").map(beforeRepair),
      text: textOf(data.conllu[index], forms),
    };
  });
}

/* What a word was before `deptree repair`, from OldHead and OldDeprel in MISC; nothing if it was what it is. */
function beforeRepair(misc) {
  const entries = misc.split("|"),
    value = (key) => (entries.find((entry) => entry.startsWith(key)) || "").slice(key.length);
  const head = value("OldHead="),
    label = value("OldDeprel=");
  return [head && `head ${shownForm(head)}`, label && shownForm(label)].filter(Boolean).join(", ");
}

/* The comment `# text = ...`, else the forms. */
function textOf(conllu, forms) {
  const match = /^#\s*text\s*=\s*(.*\S)/m.exec(conllu);
  return shownForm(match ? match[1] : forms.join(" "));
}

function countBits(bytes) {
  let count = 0;
  for (let byte of bytes) for (; byte; byte &= byte - 1) count++;
  return count;
}

/* The numbers of arcs as (n+1) x (n+1), the row of word w beginning at w (n+1): log-scores (-Infinity: none) where the
   page computes, else probabilities; without scores the tree's arcs are certain. */
function numbersOf(sentence) {
  const { n, mask, floats, computes } = sentence,
    m = n + 1;
  const found = new Float64Array(m * m).fill(computes ? -Infinity : 0);
  if (!sentence.scored) sentence.tree.forEach((head, i) => head <= n && (found[(i + 1) * m + head] = 1));
  let at = 0;
  for (let arc = 0; arc < m * n; arc++) {
    if (mask[arc >> 3] & (128 >> (arc & 7))) found[((arc % n) + 1) * m + Math.floor(arc / n)] = floats[at++];
  }
  return found;
}

/* Labels of arcs that scores tell: "head dependent" -> [[name, probability given the arc], ...], the likeliest first. */
function labelsOf(sentence, names) {
  const found = new Map();
  for (let i = 0; i < sentence.labels.length; i += 4) {
    const [head, word, label, share] = sentence.labels.subarray(i, i + 4),
      arc = `${head} ${word}`;
    if (!found.has(arc)) found.set(arc, []);
    found.get(arc).push([names[label], share / 0xffff]);
  }
  return found;
}
