/* Charts whose bars are buttons: each filters the list. */

/* bars: [{ name, value, share, tick, test, told }], `share` of the chart's height or width from 0 to 1, `tick` a second
   mark on the same scale, `test` of sentences; pick is called with a bar, or null when it is released. */
function chart({ title, note, bars, upright, axis, pick }) {
  const buttons = bars.map((bar) =>
    element(
      "button",
      {
        class: "bar-button",
        "aria-pressed": "false",
        "aria-label": bar.told,
        title: bar.told,
        disabled: !bar.test,
        onclick: () => {
          const chosen = buttons[bars.indexOf(bar)].getAttribute("aria-pressed") !== "true";
          buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(chosen && bars[i] === bar)));
          pick(chosen ? bar : null);
        },
      },
      !upright && element("span", { class: "bar-name" }, bar.name),
      element(
        "span",
        { class: "bar-track", "--share": bar.share, "--tick": bar.tick ?? 0 },
        bar.tick !== undefined && element("span", { class: "tick" }),
      ),
      !upright && element("span", { class: "bar-value" }, bar.value),
    ),
  );
  const release = () => buttons.forEach((button) => button.setAttribute("aria-pressed", "false"));
  const box = element(
    "figure",
    { class: `chart ${upright ? "upright" : "level"}` },
    element("figcaption", {}, element("strong", {}, title), " ", element("span", { class: "faint" }, note)),
    element("div", { class: "bars", role: "group", "aria-label": title }, buttons),
    axis &&
      element(
        "div",
        { class: "axis", "aria-hidden": "true" },
        axis.map((each) => element("span", {}, each)),
      ),
  );
  return { box, release };
}

/* Bars of equal width over [0, top], of how many sentences have such a value; the last one has all beyond. */
function histogram(sentences, of, top, size, digits) {
  const bins = Array.from({ length: size }, () => 0),
    bin = (s) => Math.min(size - 1, Math.floor((of(s) / top) * size));
  sentences.forEach((s) => bins[bin(s)]++);
  const most = Math.max(1, ...bins);
  return bins.map((count, i) => {
    const [from, to] = [i, i + 1].map((edge) => ((edge * top) / size).toFixed(digits));
    const told = `${from} to ${to}: ${counted(count, "sentence")}`;
    return { name: `${from}–${to}`, value: count, share: count / most, told, test: count ? (s) => bin(s) === i : null };
  });
}
