/* Where trees break rules: [rule, word, words, ofArcs], the words that break it together, or by their arcs, and the first of
   them, or the ID of an empty node. */

const MOST_WORDS = 8;

const brokenAt = (sentence, word) => sentence.broken.filter(([, , words]) => words.includes(word));

/* Whether it is an arc of the tree that breaks a rule. */
const isBroken = (sentence, { head, dependent }) =>
  sentence.tree[dependent - 1] === head && brokenAt(sentence, dependent).some(([, , , ofArcs]) => ofArcs);

/* The words of a place, some of which are an empty node, or beyond the sentence. */
function wordsName(sentence, [, word, words]) {
  const name = (each) => (sentence.forms[each - 1] === undefined ? String(each) : headName(sentence, each)),
    others = words.filter((each) => each !== Math.floor(word));
  const more = others.length > MOST_WORDS ? ` and ${others.length - MOST_WORDS} more` : "";
  return `${name(word)}${others.length ? ` with ${others.slice(0, MOST_WORDS).map(name).join(", ")}${more}` : ""}`;
}

const placeName = (sentence, place) => `${place[0]} at ${wordsName(sentence, place)}`;

/* All places, each a button; look: called with a word. */
const brokenList = (sentence, look) =>
  sentence.broken.map((place) =>
    element(
      "li",
      {},
      element(
        "button",
        { class: "link", onclick: () => look(Math.max(1, Math.min(sentence.n, Math.floor(place[1])))) },
        place[0],
      ),
      ` at ${wordsName(sentence, place)}`,
    ),
  );

/* What a word breaks, in words. */
const brokenNote = (sentence, word) =>
  brokenAt(sentence, word)
    .map((place) => placeName(sentence, place))
    .join("; ");

/* The rules that are broken, the most frequent first, for a select. */
function brokenRules(sentences) {
  const counts = new Map();
  for (const s of sentences) for (const [rule] of s.broken) counts.set(rule, (counts.get(rule) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([rule, count]) => [rule, `${rule} (${count.toLocaleString("en")})`]);
}
