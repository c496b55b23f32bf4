/* A word's heads as bars, and its mark. */

const FEWEST_SHOWN = 0.001,
  MOST_BARS = 12;

/* The heads of a word that are worth a bar, the likeliest first. */
function headsOf(view, word) {
  const m = view.sentence.n + 1,
    found = [];
  for (let head = 0; head < m; head++) {
    const p = view.probs[word * m + head],
      before = view.base[word * m + head];
    const always = head === view.tree[word - 1] || head === view.given.get(word);
    if (head !== word && (always || p >= FEWEST_SHOWN || before >= FEWEST_SHOWN)) found.push({ head, p, before });
  }
  return found.sort((a, b) => b.before - a.before || a.head - b.head).slice(0, MOST_BARS);
}

/* The labels of an arc in words: by scores, else the annotated one. */
function labelNote(view, head, word) {
  const labels = view.labels.get(`${head} ${word}`);
  if (labels)
    return labels
      .filter(([, p], i) => !i || p >= 0.05)
      .map(([name, p]) => (p >= SURE ? name : `${name} ${arcNumber(p)}`))
      .join(", ");
  const { sentence } = view;
  return sentence.annotated[word - 1] && sentence.tree[word - 1] === head && sentence.deprels[word - 1] !== "_"
    ? sentence.deprels[word - 1]
    : "";
}

function headName(sentence, head) {
  return head ? `${head} ${amongOthers(sentence.forms[head - 1])}` : "ROOT";
}

/* fix: called with (word, head); mark: with (word, fields). */
function wordPanel(view, word, marks, fix, mark) {
  const { sentence } = view,
    form = sentence.forms[word - 1];
  return [
    element(
      "h3",
      {},
      element("span", { class: "number" }, word),
      " ",
      element("bdi", {}, form),
      " ",
      element(
        "span",
        { class: "faint" },
        [sentence.upos[word - 1], sentence.deprels[word - 1]].filter((each) => each !== "_").join(" · "),
      ),
      sentence.repaired[word - 1] &&
        element("span", { class: "repair" }, ` repaired: was ${sentence.repaired[word - 1]}`),
    ),
    ...brokenAt(sentence, word).map((place) => element("p", { class: "wrong" }, `Breaks ${placeName(sentence, place)}`)),
    sentence.scored &&
      element(
        "ol",
        { class: "heads", "aria-label": `Heads of ${form}` },
        headsOf(view, word).map((each, i) => headBar(view, word, each, i, fix)),
      ),
    markForm(view, word, marks, mark),
  ].filter(Boolean);
}

function headBar(view, word, { head, p, before }, place, fix) {
  const { sentence } = view,
    isFixed = view.given.get(word) === head,
    labels = labelNote(view, head, word);
  const inTree = view.tree[word - 1] === head,
    name = headName(sentence, head);
  const told = `${name}${labels ? ` (${labels})` : ""}: probability ${probability(p)}${inTree ? ", in the tree shown" : ""}${isFixed ? ", fixed" : ""}`;
  return element(
    "li",
    {},
    element(
      "button",
      {
        class: `head ${inTree ? "tree" : "other"}`,
        "aria-pressed": String(isFixed),
        "aria-label": told,
        disabled: !view.canFix,
        title: view.canFix ? (isFixed ? "Release this head" : "Fix this head: all other probabilities change") : null,
        onclick: () => fix(word, head),
      },
      element("kbd", {}, place < 9 ? place + 1 : ""),
      element(
        "span",
        { class: "name" },
        element("bdi", {}, name),
        isFixed && element("span", { class: "pin" }, " fixed"),
      ),
      element("span", { class: "bar", "--share": p, "--before": before }),
      element("span", { class: "p" }, probability(p)),
      element("span", { class: "labels" }, labels),
    ),
  );
}

function markForm(view, word, marks, change) {
  const { sentence } = view,
    mark = marks.of(sentence, word);
  const verdicts = VERDICTS.map((verdict) =>
    element(
      "button",
      {
        class: `verdict ${verdict}`,
        "aria-pressed": String(mark.verdict === verdict),
        onclick: () => change(word, { verdict: mark.verdict === verdict ? undefined : verdict }),
      },
      verdict,
    ),
  );
  const select = element(
    "select",
    {
      onchange: () => {
        const head = select.value === "" ? undefined : Number(select.value);
        change(word, {
          head,
          label: head === undefined || head === givenHead(sentence, word) ? undefined : view.labels.get(`${head} ${word}`)?.[0][0],
        });
      },
    },
    option("", "as it is"),
    Array.from({ length: sentence.n + 1 }, (_, head) => head !== word && option(head, headName(sentence, head))),
  );
  select.value = mark.head === undefined ? "" : String(mark.head);
  const note = element("input", {
    type: "text",
    value: mark.note || "",
    maxlength: 500,
    onchange: () => change(word, { note: note.value.trim() }),
  });
  return element(
    "fieldset",
    { class: "marking" },
    element("legend", {}, `Head ${treeHead(sentence, word)} is`),
    element("div", { class: "verdicts" }, verdicts),
    element("label", { class: "field" }, element("span", {}, "Head to write"), select),
    element("label", { class: "field note" }, element("span", {}, "Note"), note),
  );
}
