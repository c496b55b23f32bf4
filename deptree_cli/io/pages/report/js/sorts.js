/* What sentences are sorted by. */

const SORTS = [
  {
    name: "doubt",
    text: "doubt",
    of: (s) => s.doubt,
    shown: (s) => s.doubt.toFixed(2),
    help: "expected errors of the heads shown",
  },
  {
    name: "rate",
    text: "doubt per word",
    of: (s) => s.doubt / s.n,
    shown: (s) => (s.doubt / s.n).toFixed(3),
    help: "expected errors of the heads shown, per word",
  },
  {
    name: "errors",
    text: "expected errors",
    of: (s) => s.bestErrors,
    shown: (s) => s.bestErrors.toFixed(2),
    help: "expected errors of the most probable tree",
  },
  {
    name: "entropy",
    text: "entropy",
    of: (s) => s.entropy,
    shown: (s) => s.entropy.toFixed(2),
    help: "entropy in nats",
  },
  {
    name: "probability",
    text: "improbable tree",
    of: (s) => -s.logProb,
    shown: (s) => (s.logProb === -Infinity ? "−∞" : s.logProb.toFixed(1)),
    help: "log-probability of the tree shown",
  },
  {
    name: "rules",
    text: "broken rules",
    of: (s) => s.broken.length,
    shown: (s) => String(s.broken.length),
    help: "broken rules",
  },
  { name: "length", text: "length", of: (s) => s.n, shown: (s) => String(s.n), help: "words" },
  {
    name: "file",
    text: "order of the file",
    of: (s) => -s.index,
    shown: (s) => String(s.index + 1),
    help: "place in the file",
  },
];

const OF_TREES = ["rules", "length", "file"];

/* Those that a page has numbers for, the usual one first. */
const sortsOf = (data) =>
  SORTS.filter(({ name }) => (name !== "rules" || data.hasRules) && (data.hasScores || OF_TREES.includes(name)));
