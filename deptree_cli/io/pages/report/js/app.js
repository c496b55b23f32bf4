/* The page: what it is made of, keys, light and dark. */

const KEYS = [
  ["↑ ↓ or k j", "sentences"],
  ["← →", "words, in the picture"],
  ["Enter", "keep looking at a word"],
  ["1 … 9", "fix the word's head of that place, or release it", true],
  ["0", "release all heads", true],
  ["w a f", "mark the word's head as wrong, ambiguous, fine"],
  ["s n", "play samples, next sample", true],
  ["/", "search"],
  ["t", "light or dark"],
  ["?", "these keys"],
];

function start() {
  const data = JSON.parse(document.getElementById("data").textContent),
    sentences = readSentences(data),
    marks = new Marks(data.key);
  const view = new SentenceView(data, marks, (sentence) => {
    list.refresh(sentence);
    showMarks();
  });
  const list = new SentenceList(sentences, data, marks, (sentence) => {
    view.show(sentence);
    remember(sentence);
  });
  const showMarks = () =>
    (document.getElementById("marks-note").textContent = marks.kept
      ? ""
      : "This browser keeps no marks for this page: export them before you close it.");
  document.body.append(
    header(data, sentences, marks, list),
    element("main", {}, filePanel(data, sentences, list), list.box, view.box),
    help(data),
    footer(data),
  );
  document.body.classList.toggle("single", data.total === 1);
  document.body.classList.toggle("plain", !data.hasScores);
  showMarks();
  document.addEventListener("keydown", (event) => key(event, list, view));
  const named = decodeURIComponent(location.hash.slice(1));
  list.select(sentences.find((s) => s.id === named) || list.found[0]);
}

function remember(sentence) {
  history.replaceState(null, "", `#${encodeURIComponent(sentence.id)}`);
}

function header(data, sentences, marks, list) {
  const name = data.title.replace(/[^\w.-]+/g, "_"),
    left = data.total > sentences.length,
    some = sentences.some((s) => s.broken.length),
    which = data.hasScores ? "most doubtful" : some ? "with most broken rules" : "first";
  const lacking = ["head", "misc"].filter((each) => !data.columns.includes(each)).map((each) => each.toUpperCase());
  const kind = data.columns.join() === TEN.join() ? "conllu" : "conllup",
    attributes = { onclick: () => save(`${name}.${kind}`, marksAsConllu(sentences, marks, data.stale)) };
  if (lacking.length) Object.assign(attributes, { disabled: "", title: `no column ${lacking.join(", ")} for marks` });
  return element(
    "header",
    {},
    element("h1", {}, data.title),
    element(
      "p",
      { class: "faint" },
      left
        ? `The ${sentences.length.toLocaleString("en")} ${which} of ${counted(data.total, "sentence")}`
        : counted(sentences.length, "sentence"),
    ),
    element(
      "div",
      { class: "buttons" },
      element("span", { class: "faint" }, "Export"),
      element("button", attributes, kind === "conllu" ? "CoNLL-U" : "CoNLL-U Plus"),
      element("button", { onclick: turnTheme }, "Light / dark"),
      element("button", { onclick: () => document.getElementById("help").showModal() }, "Keys"),
    ),
    element("p", { id: "marks-note", class: "warning", role: "status" }),
  );
}

function footer(data) {
  return element(
    "footer",
    { class: "faint" },
    data.signature,
    element("div", { id: "said", class: "said", "aria-live": "polite" }),
  );
}

const ABOUT_SCORES =
  "Arcs above the words are the tree's, below are rivals; each is as opaque as it is probable. An arc without a number has at least .99. Click an arc or a bar to fix that head: all other probabilities become those of trees that have it.";
const ABOUT_RULES = "A word with ! takes part in breaking a rule; the arcs that break it are dashed.";

function help(data) {
  const box = element(
    "dialog",
    { id: "help", "aria-labelledby": "help-title" },
    element("h2", { id: "help-title" }, "Keys"),
    element(
      "dl",
      {},
      KEYS.filter(([, , ofScores]) => data.hasScores || !ofScores).map(([name, does]) => [element("dt", {}, name), element("dd", {}, does)]),
    ),
    data.hasScores && element("p", { class: "faint" }, ABOUT_SCORES),
    data.hasRules && element("p", { class: "faint" }, ABOUT_RULES),
    element("form", { method: "dialog" }, element("button", {}, "Close")),
  );
  return box;
}

function turnTheme() {
  const root = document.documentElement,
    dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

function key(event, list, view) {
  const typing = event.target.closest("input:not([type=range]), select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const verdict = { w: "wrong", a: "ambiguous", f: "fine" }[event.key];
  const mark = view.marks.of(view.sentence, view.word).verdict;
  const does = {
    j: () => list.step(1),
    k: () => list.step(-1),
    ArrowDown: () => list.step(1),
    ArrowUp: () => list.step(-1),
    0: () => view.release(),
    s: () => view.toggle(),
    n: () => view.step(),
    t: turnTheme,
    "/": () => list.search.focus(),
    "?": () => document.getElementById("help").showModal(),
    Escape: () => view.release(),
  }[event.key];
  const head = /^[1-9]$/.test(event.key) && headsOf(view, view.word)[Number(event.key) - 1];
  if (verdict) view.mark(view.word, { verdict: mark === verdict ? undefined : verdict });
  else if (head) view.fix(view.word, head.head);
  else if (does) does();
  else return;
  event.preventDefault();
}

start();
