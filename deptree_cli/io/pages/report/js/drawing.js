/* A sentence in a picture: the tree's arcs above the words, others below, each as opaque as it is probable. */

const WORD_SIZE = 16,
  LABEL_SIZE = 11,
  SLOT = 8,
  GAP = 18,
  STEP = 22,
  LOWEST = 26,
  CORNER = 9,
  MARGIN = 14;
const FONTS = '"Noto Sans","Segoe UI","Helvetica Neue",Arial,"DejaVu Sans",sans-serif';
const BADGE = 16; // the mark of a word that breaks a rule, with a gap
const LINE = 40; // of words, with their parts of speech below

const pen = typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");

function widthOf(text, size) {
  pen.font = `${size}px ${FONTS}`;
  return pen.measureText(text).width;
}

const tagOf = (arc) => [arc.label || (arc.head ? "" : "ROOT"), arcNumber(arc.weight)].filter(Boolean).join(" ");

/* One side: its arcs with their levels, slots and what they ask of the words' distances. */
function sideOf(arcs) {
  const levels = levelsOf(arcs),
    slots = slotsOf(arcs, levels),
    tags = arcs.map(tagOf);
  const offset = (number, word) => (slots.offsets.get(`${number} ${word}`) || 0) * SLOT;
  const spans = arcs.flatMap((arc, i) => {
    if (!arc.head) return [];
    const inner = offset(i, leftOf(arc)) - offset(i, rightOf(arc));
    return [[leftOf(arc), rightOf(arc), widthOf(tags[i], LABEL_SIZE) + 2 * CORNER + 4 + inner]];
  });
  return {
    arcs,
    levels,
    slots,
    tags,
    spans,
    offset,
    height: arcs.length ? LOWEST + STEP * (Math.max(...levels) - 1) + LABEL_SIZE + 4 : 6,
  };
}

/* Words: forms; upos: below them; arcs: see `arcsOf`, with labels; on: {arc, word, enter} listeners; described: what is
   said of a word to those who cannot see its arcs; broken: which rules it breaks, in words. */
function pictureOf({ forms, upos, arcs, fixed, on, described, broken }) {
  const above = sideOf(arcs.filter((arc) => arc.kind === "tree")),
    below = sideOf(arcs.filter((arc) => arc.kind !== "tree"));
  const widths = forms.map((form, i) =>
    Math.max(
      widthOf(form, WORD_SIZE) + 8,
      widthOf(upos[i], 10) + (broken(i + 1) ? BADGE : 0),
      ...[above, below].map((side) => (side.slots.totals.get(i + 1) || 0) * SLOT + 4),
      rootTag(above, i + 1),
      rootTag(below, i + 1),
    ),
  );
  const middles = middlesOf(widths, GAP, [...above.spans, ...below.spans]),
    n = forms.length;
  const width = middles[n - 1] + widths[n - 1] / 2 + 2 * MARGIN,
    height = above.height + LINE + below.height + 2 * MARGIN;
  const mirrored = 2 * forms.filter(isRightToLeft).length > n;
  const x = (at) => (mirrored ? width - MARGIN - at : MARGIN + at);
  const top = MARGIN + above.height,
    bottom = top + LINE;
  const picture = drawn("svg", {
    class: "picture",
    viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`,
    width: Math.ceil(width),
    height: Math.ceil(height),
    role: "group",
    "aria-label": "The sentence with its arcs",
  });
  const groups = [
    [above, top, -1],
    [below, bottom, 1],
  ].flatMap(([side, edge, down]) =>
    side.arcs.map((arc, i) => {
      const ends = [arc.head || arc.dependent, arc.dependent];
      const [from, to] =
        arc.head === arc.dependent
          ? [-SLOT, SLOT].map((by) => x(middles[arc.head - 1]) + by)
          : ends.map((word) => x(middles[word - 1] + side.offset(i, word)));
      const bar = edge + down * (LOWEST + STEP * (side.levels[i] - 1));
      return {
        order: side.levels[i] * -1000 + arc.weight,
        group: arcDrawn(arc, from, to, edge, bar, down, fixed, on),
        name: tagDrawn(arc, side.tags[i], (from + to) / 2, bar, down),
      };
    }),
  );
  groups.sort((a, b) => a.order - b.order);
  picture.append(...groups.map((each) => each.group), ...groups.map((each) => each.name));
  picture.append(
    ...forms.map((form, i) => wordDrawn(i + 1, form, upos[i], x(middles[i]), top, widths[i], on, described, broken(i + 1))),
  );
  return picture;
}

/* How wide a word must be for the tag of its ROOT arc, which stands over it alone. */
function rootTag(side, word) {
  const number = side.arcs.findIndex((arc) => !arc.head && arc.dependent === word);
  return number < 0 ? 0 : widthOf(side.tags[number], LABEL_SIZE) + 2 * Math.abs(side.offset(number, word)) + 6;
}

function lineOf(from, to, edge, bar, down) {
  const end = edge + down * 4;
  if (from === to) return `M${from} ${bar}V${end}`;
  const turn = Math.min(CORNER, Math.abs(to - from) / 2) * Math.sign(to - from),
    under = bar - down * Math.abs(turn);
  return `M${from} ${edge}V${under}Q${from} ${bar} ${from + turn} ${bar}H${to - turn}Q${to} ${bar} ${to} ${under}V${end}`;
}

const legible = (weight) => 0.6 + 0.4 * weight;

function arcDrawn(arc, from, to, edge, bar, down, fixed, on) {
  const line = lineOf(from, to, edge, bar, down),
    isFixed = fixed.get(arc.dependent) === arc.head;
  const parts = [
    drawn("path", { class: "hit", d: line }),
    drawn("path", { class: "thread", d: line }),
    drawn("path", { class: "line", d: line, opacity: arc.weight.toPrecision(4) }),
    drawn("path", { class: "tip", opacity: legible(arc.weight), d: `M${to} ${edge}l-3.2 ${down * 7}h6.4z` }),
  ];
  return drawn(
    "g",
    {
      class: `arc ${arc.kind}${isFixed ? " fixed" : ""}${arc.broken ? " broken-arc" : ""}`,
      "data-head": arc.head,
      "data-dependent": arc.dependent,
      onclick: () => on.arc(arc),
      onmouseenter: () => on.enter(arc.dependent),
    },
    ...parts,
  );
}

function tagDrawn(arc, tag, at, bar, down) {
  return drawn(
    "text",
    {
      class: `tag ${arc.kind}${arc.broken ? " broken-arc" : ""}`,
      x: at,
      y: down > 0 ? bar + LABEL_SIZE + 1 : bar - 4,
      "data-head": arc.head,
      "data-dependent": arc.dependent,
    },
    tag,
  );
}

function wordDrawn(word, form, upos, at, top, width, on, described, broken) {
  const tag = upos === "_" ? "" : upos,
    badge = at - (tag ? widthOf(tag, 10) / 2 + 2 : 0); // the mark and the part of speech are in the middle together
  return drawn(
    "g",
    {
      class: "word",
      tabindex: -1,
      role: "button",
      "data-word": word,
      "aria-label": described(word),
      onclick: () => on.word(word),
      onmouseenter: () => on.enter(word),
      onfocus: () => on.focus(word),
    },
    drawn("rect", { x: at - width / 2 - 2, y: top + 1, width: width + 4, height: LINE - 2, rx: 5 }),
    drawn("text", { class: "form", x: at, y: top + 19, direction: isRightToLeft(form) ? "rtl" : null }, form),
    drawn("text", { class: "upos", x: broken ? at + BADGE / 2 : at, y: top + 33 }, tag),
    ...(broken
      ? [
          drawn("title", {}, broken),
          drawn("circle", { class: "badge", cx: badge, cy: top + 29.5, r: 6 }),
          drawn("text", { class: "badge", x: badge, y: top + 33 }, "!"),
        ]
      : []),
  );
}
