/* Marks on heads: kept in the browser's storage under the key of this report, and exported.

   A mark is { verdict, note, head } of a word; the key in the list is "sentence word". */

const VERDICTS = ["wrong", "ambiguous", "fine"];

/* The head that a word has in the CoNLL-U, undefined where it has none: to choose this one is no mark. */
const givenHead = (sentence, word) => (sentence.annotated[word - 1] ? sentence.tree[word - 1] : undefined);

class Marks {
  constructor(key) {
    this.key = `deptree-report-${key}`;
    this.all = {};
    this.kept = true;
    try {
      this.all = JSON.parse(localStorage.getItem(this.key)) || {};
    } catch {
      this.kept = false; // no storage for this page: marks last as long as it is open
    }
  }

  of(sentence, word) {
    return this.all[`${sentence.index} ${word}`] || {};
  }

  /* Changes fields of a mark; one without any goes. */
  set(sentence, word, fields) {
    const old = givenHead(sentence, word),
      mark = Object.fromEntries(
        Object.entries({ ...this.of(sentence, word), ...fields }).filter(
          ([name, value]) => value !== undefined && value !== "" && !(name === "head" && value === old),
        ),
      );
    if (Object.keys(mark).length) this.all[`${sentence.index} ${word}`] = mark;
    else delete this.all[`${sentence.index} ${word}`];
    try {
      localStorage.setItem(this.key, JSON.stringify(this.all));
    } catch {
      this.kept = false;
    }
  }

  /* [word, mark] pairs of a sentence, in order. */
  in(sentence) {
    const found = [];
    for (let word = 1; word <= sentence.n; word++)
      if (this.all[`${sentence.index} ${word}`]) found.push([word, this.of(sentence, word)]);
    return found;
  }

  /* Of the verdicts of a sentence the gravest, `note` where there are only notes or heads, or nothing. */
  gravest(sentence) {
    const marks = this.in(sentence).map(([, mark]) => mark);
    return VERDICTS.find((verdict) => marks.some((mark) => mark.verdict === verdict)) || (marks.length ? "note" : "");
  }
}

const oneLine = (text) => String(text).replace(/[\t\r\n]+/g, " ");

/* All sentences as they were read, but for the heads that were chosen and `DoubtNote=` in MISC of marked words: the verdict, the
   note, or both. `deptree doubt` leaves out what is fine. */
function marksAsConllu(sentences, marks, stale) {
  return sentences
    .map((sentence) => {
      const of = new Map(marks.in(sentence));
      return of.size ? withMarks(sentence, of, stale) : sentence.conllu;
    })
    .join("");
}

function withMarks(sentence, marks, stale) {
  const changed = [...marks.values()].some((mark) => mark.head !== undefined),
    names = sentence.columns;
  const lines = sentence.conllu
    .split("\n")
    .filter((line) => !changed || !(/^\d+\.\d+\t/.test(line) || isStale(line, stale)));
  return lines
    .map((line) => {
      const end = line.endsWith("\r") ? "\r" : "",
        cells = line.slice(0, line.length - end.length).split("\t");
      if (cells.length !== names.length || !/^\d+$/.test(cells[0])) return line;
      const row = Object.fromEntries(names.map((name, place) => [name, cells[place]])),
        mark = marks.get(Number(row.id));
      if (changed) withoutOldTree(row, stale);
      if (mark) withMark(row, mark, sentence.tree[row.id - 1]);
      return names.map((name) => row[name]).join("\t") + end;
    })
    .join("\n");
}

/* Comments that say something of the tree as it was. */
function isStale(line, stale) {
  const match = /^#\s*([^\s=]+)\s*=/.exec(line);
  return match !== null && (stale.comments.includes(match[1]) || match[1].startsWith(stale.prefix));
}

/* Enhanced dependencies, and probabilities of heads, do not outlive another tree. */
function withoutOldTree(row, stale) {
  row.deps = "_";
  row.misc =
    row.misc
      .split("|")
      .filter((entry) => !stale.misc.includes(entry.split("=")[0]))
      .join("|") || "_";
}

function withMark(row, mark, old) {
  if (mark.head !== undefined) {
    row.head = String(mark.head);
    if (mark.label) row.deprel = mark.label;
    else if (!mark.head || !old) row.deprel = mark.head ? "dep" : "root";
  }
  const entries = row.misc === "_" ? [] : row.misc.split("|").filter((entry) => !entry.startsWith("DoubtNote=")),
    said = [mark.verdict, mark.note && oneLine(mark.note).replace(/\|/g, "/")].filter(Boolean).join(": ");
  if (said) entries.push(`DoubtNote=${said}`);
  row.misc = entries.join("|") || "_";
}
