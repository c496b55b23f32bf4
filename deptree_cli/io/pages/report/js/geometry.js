/* Where arcs run: how high, and from which place of a word; as in io/pictures/geometry.py.

   Heights are levels, 1 next to the words. An arc is above all those that it spans, and two arcs of one level have at
   most an end in common. */

function levelsOf(arcs) {
  const found = new Array(arcs.length).fill(0),
    placed = [];
  const order = arcs
    .map((_, i) => i)
    .sort(
      (a, b) =>
        rightOf(arcs[a]) - leftOf(arcs[a]) - rightOf(arcs[b]) + leftOf(arcs[b]) || leftOf(arcs[a]) - leftOf(arcs[b]),
    );
  for (const arc of order) {
    if (!arcs[arc].head) continue;
    const left = leftOf(arcs[arc]),
      right = rightOf(arcs[arc]),
      taken = new Set();
    let level = 1;
    for (const other of placed) {
      const [from, to] = [leftOf(arcs[other]), rightOf(arcs[other])];
      if (from >= left && to <= right) level = Math.max(level, found[other] + 1);
      if (from < right && to > left) taken.add(found[other]);
    }
    while (taken.has(level)) level++;
    found[arc] = level;
    placed.push(arc);
  }
  const top = Math.max(0, ...found) + 1;
  return found.map((level) => level || top);
}

/* Offsets of the ends of arcs from the middle of their words, in slots: "arc word" -> offset; and how many each has. */
function slotsOf(arcs, levels) {
  const ends = new Map(),
    offsets = new Map(),
    totals = new Map();
  const add = (word, end) => ends.set(word, [...(ends.get(word) || []), end]);
  arcs.forEach((arc, number) => {
    if (!arc.head) return add(arc.dependent, [0, 0, number]);
    add(leftOf(arc), [1, -levels[number], number]);
    add(rightOf(arc), [-1, levels[number], number]);
  });
  for (const [word, list] of ends) {
    list.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    list.forEach(([, , number], place) => offsets.set(`${number} ${word}`, place - (list.length - 1) / 2));
    totals.set(word, list.length);
  }
  return { offsets, totals };
}

/* The middles of words of these widths, `gap` apart, and of spans [left, right, distance] at least so far apart. */
function middlesOf(widths, gap, spans) {
  const steps = widths.slice(1).map((width, i) => (width + widths[i]) / 2 + gap);
  for (const [left, right, distance] of [...spans].sort((a, b) => a[1] - a[0] - b[1] + b[0])) {
    let missing = distance;
    for (let i = left - 1; i < right - 1; i++) missing -= steps[i];
    if (missing > 0) for (let i = left - 1; i < right - 1; i++) steps[i] += missing / (right - left);
  }
  const found = [widths[0] / 2];
  steps.forEach((step, i) => found.push(found[i] + step));
  return found;
}
