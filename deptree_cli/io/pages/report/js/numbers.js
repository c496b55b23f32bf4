/* Numbers as people read them. */

const SURE = 0.99,
  LEAST = 0.01;

/* On an arc: nothing where it is nearly certain, else two digits. */
function arcNumber(weight) {
  if (weight >= SURE) return "";
  if (weight < LEAST) return weight > 0 ? "<.01" : "0";
  return weight.toFixed(2).replace(/^0/, "");
}

/* In a table: three digits, never rounded to a certainty or an impossibility. */
function probability(p) {
  if (p <= 0) return "0";
  if (p < 0.001) return "<.001";
  return p > 0.9995 && p < 1 - 1e-9 ? ">.999" : p.toFixed(3).replace(/^0/, "");
}

function treeProbability(logProb) {
  if (logProb === -Infinity) return "impossible by these scores";
  const p = Math.exp(logProb);
  return `probability ${p >= 1e-4 ? p.toPrecision(2) : p > 1e-300 ? p.toExponential(1) : `exp(${logProb.toFixed(0)})`}`;
}

const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
