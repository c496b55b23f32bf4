/* The whole file in a few charts. */

const BINS = 20,
  MOST_LABELS = 6;

function filePanel(data, sentences, list) {
  if (!data.hasScores) return element("p", { class: "panel faint" }, summary(data, sentences));
  const charts = [];
  const add = (name, options) => {
    const made = chart({
      ...options,
      pick: (bar) => {
        list.filter(`chart ${name}`, bar && bar.test);
        all.hidden = ![...list.filters.keys()].some((each) => each.startsWith("chart "));
      },
    });
    charts.push([name, made]);
  };
  const all = element(
    "button",
    {
      hidden: true,
      class: "release",
      onclick: () => {
        charts.forEach(([name, each]) => {
          each.release();
          list.filters.delete(`chart ${name}`);
        });
        all.hidden = true;
        list.update();
      },
    },
    "Show all bars",
  );
  add("entropy", entropies(sentences));
  add("projective", projectiveMass(sentences));
  const byLabel = doubtByLabel(sentences);
  if (byLabel.bars.length) add("labels", byLabel);
  if (data.arrays.gold) add("calibration", calibration(data, sentences));
  return element(
    "details",
    { class: "panel", open: matchMedia("(min-width: 60rem)").matches },
    element("summary", {}, "The whole file", element("span", { class: "faint" }, ` ${summary(data, sentences)}`)),
    element(
      "div",
      { class: "charts" },
      charts.map(([, each]) => each.box),
    ),
    all,
  );
}

function summary(data, sentences) {
  const words = sentences.reduce((sum, s) => sum + s.n, 0),
    doubt = sentences.reduce((sum, s) => sum + s.doubt, 0),
    errors = ` · ${doubt.toFixed(0)} expected errors (${((100 * doubt) / Math.max(1, words)).toFixed(1)} %)`;
  const broken = data.hasRules
    ? ` · ${counted(
        sentences.reduce((sum, s) => sum + s.broken.length, 0),
        "broken rule",
      )}`
    : "";
  return `${counted(words, "word")}${data.hasScores ? errors : ""}${broken}`;
}

function entropies(sentences) {
  const sorted = sentences.map((s) => s.entropy).sort((a, b) => a - b),
    top = roundTop(sorted[Math.floor(0.98 * (sorted.length - 1))]);
  return {
    title: "Entropy",
    note: "nats, of sentences",
    upright: true,
    bars: histogram(sentences, (s) => s.entropy, top, BINS, top >= BINS ? 0 : 2),
    axis: ["0", `${top / 2}`, `${top}+`],
  };
}

/* The next larger of 1, 2, 5, 10, ... */
function roundTop(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 0.1)));
  return [1, 2, 4, 5, 10].map((factor) => factor * power).find((top) => top >= value) || 1;
}

function projectiveMass(sentences) {
  return {
    title: "Projective mass",
    note: "no crossing arcs",
    upright: true,
    bars: histogram(sentences, (s) => s.projective, 1, 10, 1),
    axis: ["0", ".5", "1"],
  };
}

/* Mean doubt of the heads of each label, those first that most errors are expected of. */
function doubtByLabel(sentences) {
  const sums = new Map();
  for (const s of sentences) {
    s.deprels.forEach((label, i) => {
      if (label === "_") return;
      const [errors, words] = sums.get(label) || [0, 0];
      sums.set(label, [errors + 1 - s.treeProbs[i] / 0xffff, words + 1]);
    });
  }
  const found = [...sums].sort((a, b) => b[1][0] - a[1][0]).slice(0, MOST_LABELS),
    most = Math.max(1e-9, ...found.map(([, [errors]]) => errors));
  const bars = found.map(([label, [errors, words]]) => ({
    name: label,
    value: errors.toFixed(errors < 10 ? 1 : 0),
    share: errors / most,
    told: `${label}: ${errors.toFixed(1)} errors expected of ${counted(words, "word")}; lists sentences where the head of one is below .5`,
    test: (s) => s.deprels.some((each, i) => each === label && s.treeProbs[i] < 0.5 * 0xffff),
  }));
  return { title: "Doubt by label", note: "expected errors", upright: false, bars };
}

/* Of the most probable tree's heads, by tenths of their probability: how many are right, and how many should be. */
function calibration(data, sentences) {
  const words = new Array(10).fill(0),
    right = new Array(10).fill(0),
    sure = new Array(10).fill(0);
  const bin = (p) => Math.min(9, Math.floor((p / 0xffff) * 10)),
    isGold = (s, i) => s.gold[i] !== data.noHead;
  for (const s of sentences) {
    s.bestProbs.forEach((p, i) => {
      if (!isGold(s, i)) return;
      words[bin(p)]++;
      sure[bin(p)] += p / 0xffff;
      right[bin(p)] += s.best[i] === s.gold[i] ? 1 : 0;
    });
  }
  const bars = words.map((count, i) => ({
    name: `.${i}`,
    value: count,
    share: count ? right[i] / count : 0,
    tick: count ? sure[i] / count : undefined,
    told: `${counted(count, "head")} of probability .${i} to ${i < 9 ? `.${i + 1}` : "1"}: ${count ? ((100 * right[i]) / count).toFixed(0) : 0} % right, ${count ? ((100 * sure[i]) / count).toFixed(0) : 0} % expected; lists sentences where one is wrong`,
    test: count ? (s) => s.bestProbs.some((p, j) => isGold(s, j) && bin(p) === i && s.best[j] !== s.gold[j]) : null,
  }));
  return { title: "Calibration", note: "heads right; lines: expected", upright: true, bars, axis: ["0", ".5", "1"] };
}
