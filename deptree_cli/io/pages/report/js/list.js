/* The list of sentences: how it is sorted, what it leaves out, and its rows. */

const BATCH = 100; // rows made at a time

class SentenceList {
  /* chosen: called with the sentence that is to be shown. */
  constructor(sentences, data, marks, chosen) {
    Object.assign(this, {
      sentences,
      marks,
      chosen,
      sort: sortsOf(data)[0],
      reversed: false,
      filters: new Map(),
      found: [],
      shown: 0,
      current: null,
    });
    this.rows = element("ul", {
      class: "rows",
      role: "listbox",
      tabindex: 0,
      "aria-label": "Sentences",
      onscroll: () => this.more(),
      onkeydown: (event) => this.press(event),
    });
    this.count = element("p", { class: "count", role: "status" });
    this.box = element(
      "section",
      { class: "list", "aria-label": "List of sentences" },
      this.controls(data),
      this.count,
      this.rows,
    );
    this.text = "";
    this.update();
  }

  controls(data) {
    const sorts = sortsOf(data),
      rules = brokenRules(this.sentences);
    const all = [["", "any"]],
      kinds = (of) =>
        [...new Set(this.sentences.flatMap(of))]
          .filter((each) => each !== "_")
          .sort()
          .map((each) => [each, each]);
    this.search = element("input", {
      type: "search",
      placeholder: "Search text or sent_id  ( / )",
      "aria-label": "Search text or sent_id",
      oninput: () => this.filter("text", this.search.value && matching(this.search.value)),
    });
    const words = { label: "", upos: "" };
    const ofWords = () =>
      this.filter(
        "words",
        (words.label || words.upos) &&
          ((s) =>
            s.upos.some(
              (upos, i) => (!words.upos || upos === words.upos) && (!words.label || s.deprels[i] === words.label),
            )),
      );
    const turn = element(
      "button",
      {
        class: "turn",
        "aria-pressed": "false",
        title: "Reverse the order",
        "aria-label": "Reverse the order",
        onclick: () => {
          this.reversed = !this.reversed;
          turn.setAttribute("aria-pressed", this.reversed);
          this.update();
        },
      },
      "↕",
    );
    return element(
      "div",
      { class: "controls" },
      this.search,
      element(
        "div",
        { class: "fields" },
        element(
          "div",
          { class: "with-button" },
          labelledSelect(
            "Sort by",
            sorts.map((sort) => [sort.name, sort.text]),
            (name) => this.sortBy(name),
          ),
          turn,
        ),
        labelledSelect("Label", [...all, ...kinds((s) => s.deprels)], (label) => {
          words.label = label;
          ofWords();
        }),
        labelledSelect("UPOS", [...all, ...kinds((s) => s.upos)], (upos) => {
          words.upos = upos;
          ofWords();
        }),
        labelledSelect(
          "Marks",
          [...all, ["some", "marked"], ...VERDICTS.map((each) => [each, each]), ["none", "not marked"]],
          (mark) =>
            this.filter(
              "marks",
              mark &&
                ((s) => {
                  const gravest = this.marks.gravest(s);
                  return mark === "some"
                    ? gravest !== ""
                    : mark === "none"
                      ? gravest === ""
                      : this.marks.in(s).some(([, each]) => each.verdict === mark);
                }),
            ),
        ),
        rules.length > 0 &&
          labelledSelect("Broken rule", [...all, ...rules], (rule) =>
            this.filter("rule", rule && ((s) => s.broken.some(([each]) => each === rule))),
          ),
      ),
    );
  }

  sortBy(name) {
    this.sort = SORTS.find((sort) => sort.name === name);
    this.update();
  }

  /* Sets, or without a test removes, one of the filters, which all hold together. */
  filter(name, test) {
    if (test) this.filters.set(name, test);
    else this.filters.delete(name);
    this.update();
  }

  update() {
    const tests = [...this.filters.values()],
      { of } = this.sort,
      sign = this.reversed ? -1 : 1;
    this.found = this.sentences.filter((sentence) => tests.every((test) => test(sentence)));
    this.found.sort((a, b) => sign * (of(b) - of(a) || a.index - b.index));
    this.most = this.found
      .map(of)
      .filter(Number.isFinite)
      .reduce((most, value) => Math.max(most, value), 1e-9);
    this.count.textContent = `${this.found.length.toLocaleString("en")} of ${counted(this.sentences.length, "sentence")} · ${this.sort.help}`;
    this.rows.replaceChildren();
    this.shown = 0;
    this.add();
    if (!this.found.length)
      this.rows.append(
        element(
          "li",
          { class: "empty", role: "option", "aria-selected": "false", "aria-disabled": "true" },
          "No sentence fits all filters.",
        ),
      );
    if (this.current) this.select(this.current, false);
  }

  more() {
    if (this.rows.scrollTop + 2 * this.rows.clientHeight > this.rows.scrollHeight) this.add();
  }

  add() {
    const next = this.found.slice(this.shown, this.shown + BATCH);
    this.rows.append(...next.map((sentence) => this.row(sentence)));
    this.shown += next.length;
  }

  row(sentence) {
    const mark = this.marks.gravest(sentence),
      value = this.sort.of(sentence);
    const share = this.most > 0 && this.sort.name !== "file" ? Math.max(0, Math.min(1, value / this.most)) : 0;
    return element(
      "li",
      {
        role: "option",
        id: `row-${sentence.index}`,
        "aria-selected": String(sentence === this.current),
        onclick: () => this.select(sentence),
      },
      element(
        "span",
        { class: "id" },
        element("bdi", { title: sentence.id }, sentence.id),
        mark && element("span", { class: `mark ${mark}` }, mark),
      ),
      element(
        "span",
        { class: "value" },
        this.sort.shown(sentence),
        element("span", { class: "meter", "--share": share }),
      ),
      element("span", { class: "text", dir: "auto" }, sentence.text),
    );
  }

  /* Shows a sentence, and its row. */
  select(sentence, tell = true) {
    this.current = sentence;
    this.rows.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    const place = this.found.indexOf(sentence);
    while (place >= this.shown && this.shown < this.found.length) this.add();
    const row = document.getElementById(`row-${sentence.index}`) || this.rows.querySelector(`#row-${sentence.index}`);
    if (row) {
      row.setAttribute("aria-selected", "true");
      this.rows.setAttribute("aria-activedescendant", row.id);
      if (tell) reveal(this.rows, row);
    } else this.rows.removeAttribute("aria-activedescendant");
    if (tell) this.chosen(sentence);
  }

  /* Selects the next sentence, or the one so many further on. */
  step(by) {
    const place = this.found.indexOf(this.current),
      next = this.found[Math.max(0, Math.min(this.found.length - 1, place + by))];
    if (next) this.select(next);
  }

  press(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.step(by);
  }

  /* Redraws the row of a sentence whose marks changed. */
  refresh(sentence) {
    document.getElementById(`row-${sentence.index}`)?.replaceWith(this.row(sentence));
  }
}

function matching(text) {
  const wanted = text.toLocaleLowerCase();
  return (sentence) => `${sentence.id}\n${sentence.text}`.toLocaleLowerCase().includes(wanted);
}

/* Scrolls a box, and nothing else, to one of its rows. */
function reveal(box, row) {
  const outer = box.getBoundingClientRect(),
    inner = row.getBoundingClientRect();
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}
