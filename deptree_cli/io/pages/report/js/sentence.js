/* The sentence that is shown: its picture, the word that is looked at, heads that are fixed, samples that flicker. */

class SentenceView extends Player {
  constructor(data, marks, marked) {
    super();
    Object.assign(this, {
      data,
      marks,
      marked,
      threshold: null,
      shows: "tree",
      word: 1,
      pinned: false,
      given: new Map(),
      timer: null,
      sample: null,
      drawnSamples: 0,
    });
    this.title = element("h2", { tabindex: -1 });
    this.text = element("p", { class: "sentence-text", dir: "auto" });
    this.caption = element("p", { class: "caption" });
    this.givenNote = element("p", { class: "given", hidden: true });
    this.scroller = element("div", {
      class: "scroller",
      tabindex: 0,
      role: "region",
      "aria-label": "Picture of the sentence",
      onkeydown: (event) => this.press(event),
    });
    this.panel = element("div", { class: "word-panel" });
    this.broken = element("ul", { class: "broken", "aria-label": "Broken rules" });
    const tools = this.tools();
    this.box = element(
      "section",
      { class: "sentence", "aria-label": "Sentence" },
      element("div", { class: "heading" }, this.title, this.text),
      data.hasScores && tools,
      this.caption,
      this.givenNote,
      this.scroller,
      this.broken,
      this.panel,
    );
  }

  tools() {
    const out = element("output", {}, "auto");
    this.slider = element("input", {
      type: "range",
      min: 0,
      max: 50,
      value: 0,
      "aria-label": "Show other arcs from this probability on",
      oninput: () => {
        const value = Number(this.slider.value);
        this.threshold = value ? value / 100 : null;
        out.textContent = value ? `≥ ${arcNumber(value / 100)}` : "auto";
        this.draw();
      },
    });
    this.play = element("button", { onclick: () => this.toggle(), "aria-pressed": "false" }, "Play samples");
    this.next = element("button", { onclick: () => this.step() }, "Next sample");
    return element(
      "div",
      { class: "tools" },
      labelledSelect(
        "Tree",
        [
          ["tree", "of the CoNLL-U"],
          ["best", "most probable"],
        ],
        (shows) => {
          this.shows = shows;
          this.rest();
          this.refresh();
        },
      ),
      element(
        "label",
        { class: "field" },
        element("span", {}, "Other arcs"),
        element("span", { class: "with-output" }, this.slider, out),
      ),
      element("span", { class: "buttons" }, this.play, this.next),
    );
  }

  show(sentence) {
    this.rest();
    Object.assign(this, {
      sentence,
      numbers: numbersOf(sentence),
      labels: labelsOf(sentence, this.data.labels),
      given: new Map(),
      pinned: false,
      drawnSamples: 0,
      canFix: sentence.computes,
    });
    const sums = sentence.computes ? sumsOf(this.numbers, sentence.n, this.data.singleRoot) : null;
    this.base = this.probs = sums
      ? sums.probs
      : sentence.computes
        ? new Float64Array((sentence.n + 1) ** 2)
        : this.numbers;
    this.baseSums = this.sums = sums;
    this.word = this.firstWord();
    this.title.textContent = sentence.id;
    this.text.textContent = sentence.text;
    this.broken.replaceChildren(...brokenList(sentence, (word) => this.go(word)));
    const canDraw = sentence.computes || sentence.samples.length > 0;
    this.play.disabled = this.next.disabled = !canDraw;
    this.refresh();
    const [outer, inner] = [this.scroller, this.wordElement(this.word)].map((each) => each.getBoundingClientRect());
    this.scroller.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2; // the word in the middle
  }

  /* The most doubtful one; without scores one that breaks a rule. */
  firstWord() {
    let word = this.sentence.scored ? 1 : this.sentence.broken[0]?.[2].find((each) => each > 0) || 1;
    this.sentence.treeProbs.forEach((p, i) => (word = p < this.sentence.treeProbs[word - 1] ? i + 1 : word));
    return word;
  }

  /* n heads: those of a sample, else of the tree that is chosen, but for heads that are fixed. */
  get tree() {
    if (this.sample) return this.sample;
    const heads = this.shows === "best" ? this.sentence.best : this.sentence.tree;
    return Array.from(heads, (head, i) => this.given.get(i + 1) ?? head);
  }

  refresh() {
    this.draw();
    this.fill();
  }

  draw() {
    const { sentence } = this,
      tree = this.tree;
    const arcs = (
      this.sample
        ? Array.from(tree, (head, i) => ({
            head,
            dependent: i + 1,
            weight: this.probs[(i + 1) * (sentence.n + 1) + head],
            kind: "tree",
          }))
        : arcsOf(this.probs, sentence.n, tree, this.threshold)
    ).map((arc) => ({ ...arc, label: arcLabel(this, arc), broken: isBroken(sentence, arc) }));
    const on = {
      arc: (arc) => {
        if (!this.canFix) return this.look(arc.dependent, true);
        this.pinned = true;
        this.word = arc.dependent;
        this.fix(arc.dependent, arc.head);
      },
      word: (word) => this.look(word, true),
      focus: (word) => this.look(word, false),
      enter: (word) => !this.pinned && this.look(word, false),
    };
    const picture = pictureOf({
      forms: sentence.forms,
      upos: sentence.upos,
      arcs,
      fixed: this.given,
      on,
      described: (word) => described(this, word),
      broken: (word) => brokenNote(sentence, word),
    });
    const focused = this.scroller.contains(document.activeElement) && document.activeElement !== this.scroller;
    this.scroller.replaceChildren(picture);
    this.highlight();
    if (focused) this.wordElement(this.word).focus({ preventScroll: true });
    this.caption.textContent = captionOf(this, arcs);
  }

  wordElement(word) {
    return this.scroller.querySelector(`.word[data-word="${word}"]`);
  }

  highlight() {
    for (const each of this.scroller.querySelectorAll(".word, .arc, .tag")) {
      const word = Number(each.dataset.word || each.dataset.dependent);
      each.classList.toggle("looked-at", word === this.word);
      if (each.dataset.word) {
        each.setAttribute("tabindex", word === this.word ? 0 : -1);
        each.setAttribute("aria-pressed", String(this.pinned && word === this.word));
        each.classList.toggle("repaired", this.sentence.repaired[word - 1] !== "");
        each.classList.toggle("marked", ["wrong", "ambiguous"].includes(this.marks.of(this.sentence, word).verdict));
      }
    }
  }

  /* Looks at a word; pinned: until another one is clicked. */
  look(word, pinned) {
    if (pinned) this.pinned = !(this.pinned && this.word === word);
    if (word !== this.word || pinned) {
      this.word = word;
      this.highlight();
      this.fill();
    }
  }

  fill() {
    const focused = this.panel.contains(document.activeElement)
      ? [...this.panel.querySelectorAll("button, select, input")].indexOf(document.activeElement)
      : -1;
    this.panel.replaceChildren(
      ...wordPanel(
        this,
        this.word,
        this.marks,
        (word, head) => this.fix(word, head),
        (word, fields) => this.mark(word, fields),
      ),
    );
    if (focused >= 0) this.panel.querySelectorAll("button, select, input")[focused]?.focus({ preventScroll: true });
    if (!this.canFix && this.sentence.scored)
      this.panel.append(
        element("p", { class: "faint" }, "Heads are fixed in sentences of up to 60 words, and where arcs may cross."),
      );
  }

  /* Fixes a head, or releases it if it is fixed. */
  fix(word, head) {
    if (!this.canFix) return;
    const given = new Map(this.given);
    if (given.get(word) === head) given.delete(word);
    else given.set(word, head);
    const sums = given.size ? sumsOf(this.numbers, this.sentence.n, this.data.singleRoot, given) : this.baseSums;
    if (!sums)
      return this.tellGiven(
        `No tree has ${headName(this.sentence, head)} as the head of ${headName(this.sentence, word)} together with the heads that are fixed.`,
      );
    this.rest();
    Object.assign(this, { given, sums, probs: sums.probs });
    this.tellGiven("");
    this.refresh();
  }

  release() {
    if (!this.given.size) return;
    this.rest();
    Object.assign(this, { given: new Map(), sums: this.baseSums, probs: this.base });
    this.tellGiven("");
    this.refresh();
  }

  tellGiven(problem) {
    const fixed = [...this.given].map(
      ([word, head]) => `${headName(this.sentence, word)} ← ${headName(this.sentence, head)}`,
    );
    const p = fixed.length ? Math.exp(this.sums.logZ - this.baseSums.logZ) : 1;
    const text = problem || (fixed.length ? `Given ${fixed.join(", ")} (probability ${probability(p)})` : "");
    this.givenNote.hidden = !text;
    this.givenNote.replaceChildren(
      text,
      " ",
      fixed.length ? element("button", { onclick: () => this.release() }, "Release all") : "",
    );
    say(text || "No head is fixed.");
  }

  mark(word, fields) {
    this.marks.set(this.sentence, word, fields);
    this.highlight();
    this.fill();
    this.marked(this.sentence);
  }

  /* Keys while the picture has the focus. */
  press(event) {
    const mirrored = 2 * this.sentence.forms.filter(isRightToLeft).length > this.sentence.n;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (mirrored ? -1 : 1);
    if (event.key === "Enter" || event.key === " ") this.look(this.word, true);
    else if (by && !event.altKey && !event.metaKey) this.go(Math.max(1, Math.min(this.sentence.n, this.word + by)));
    else return;
    event.preventDefault();
  }

  go(word) {
    this.look(word, false);
    const shown = this.wordElement(word);
    shown.focus();
    shown.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}
