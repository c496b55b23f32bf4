/* Sums over all trees, exactly, by elimination.

   P(word i has head j) is proportional to the weight of j -> i times the probability that a walk from j to the heads of
   heads reaches ROOT before i (Markov chain tree theorem; Wilson 1996). Walks are worked out by eliminating words one by
   one: only sums, products and quotients of positive numbers, so nothing cancels, however peaked the scores are
   (Grassmann, Taksar and Heyman 1985). Numbers are logarithms, lest they leave the range of floats.

   Trees with a single ROOT arc are the limit of a weight e of ROOT arcs that vanishes: every number has the order of e
   that leads it; of two orders the lower one counts. Weights are arrays (n+1) x (n+1) of a row for each word and a
   column for each head. O(n^3). */

function withHeads(weights, n, given) {
  const m = n + 1,
    found = Float64Array.from(weights);
  for (const [word, head] of given) {
    const kept = found[word * m + head];
    found.fill(-Infinity, word * m, word * m + m);
    found[word * m + head] = kept;
  }
  return found;
}

function startOf(weights, n, singleRoot) {
  const m = n + 1,
    orders = new Int32Array(m * m);
  if (singleRoot) for (let word = 1; word <= n; word++) orders[word * m] = 1;
  return { m, logs: Float64Array.from(weights), orders };
}

/* Adds (order, log) to the number at a place. */
function addTo(logs, orders, at, order, log) {
  const old = logs[at];
  if (log === -Infinity || (old !== -Infinity && orders[at] < order)) return;
  if (old === -Infinity || order < orders[at]) {
    logs[at] = log;
    orders[at] = order;
    return;
  }
  const gap = log - old;
  if (gap > 0) logs[at] = gap > 40 ? log : log + Math.log1p(Math.exp(-gap));
  else if (gap > -40) logs[at] = old + Math.log1p(Math.exp(gap));
}

/* Takes a word out of the graph of the words left: what led to it leads to its heads. Returns what a walk at it does. */
function eliminate(state, word, left) {
  const { m, logs, orders } = state,
    row = word * m,
    targets = [0, ...left];
  const total = new Float64Array(1).fill(-Infinity),
    order = new Int32Array(1);
  for (const target of targets) addTo(total, order, 0, orders[row + target], logs[row + target]);
  const step = { word, targets: [], logs: [], orders: [], total: total[0], order: order[0] };
  for (const target of targets) {
    if (logs[row + target] === -Infinity) continue;
    step.targets.push(target);
    step.logs.push(logs[row + target] - total[0]);
    step.orders.push(orders[row + target] - order[0]);
  }
  for (const from of left) {
    const log = logs[from * m + word],
      by = orders[from * m + word];
    if (log === -Infinity) continue;
    for (let i = 0; i < step.targets.length; i++) {
      addTo(logs, orders, from * m + step.targets[i], by + step.orders[i], log + step.logs[i]); // of loops nobody asks
    }
  }
  return step;
}

/* The weights of a word's heads when all others are eliminated: P(head) up to a factor, as orders and logs, and their
   sum. Steps: of the others, in the order in which they were eliminated. */
function headWeights(start, word, steps) {
  const { m } = start,
    logs = new Float64Array(m).fill(-Infinity),
    orders = new Int32Array(m);
  logs[0] = 0;
  for (let s = steps.length - 1; s >= 0; s--) {
    const step = steps[s];
    for (let i = 0; i < step.targets.length; i++) {
      const target = step.targets[i];
      addTo(logs, orders, step.word, step.orders[i] + orders[target], step.logs[i] + logs[target]);
    }
  }
  const total = new Float64Array(1).fill(-Infinity),
    order = new Int32Array(1);
  for (let head = 0; head < m; head++) {
    orders[head] += start.orders[word * m + head];
    logs[head] += start.logs[word * m + head];
    if (head !== word) addTo(total, order, 0, orders[head], logs[head]);
  }
  return { logs, orders, total: total[0], order: order[0] };
}

function writeProbabilities(found, word, m, probs) {
  for (let head = 0; head < m; head++) {
    const counts = head !== word && found.orders[head] === found.order;
    probs[head] = counts ? Math.exp(found.logs[head] - found.total) : 0;
  }
}

/* All probabilities of heads, P(head of word w is h) at w (n+1) + h, and the logarithm of the partition function; or
   null where no tree has the given heads ([word, head] pairs). */
function sumsOf(weights, n, singleRoot, given = []) {
  const start = startOf(withHeads(weights, n, given), n, singleRoot),
    m = n + 1;
  const probs = new Float64Array(m * m);
  let logZ = null;
  const walk = (state, words, steps) => {
    if (words.length > 1) {
      const half = words.length >> 1;
      for (const [out, kept] of [
        [words.slice(half), words.slice(0, half)],
        [words.slice(0, half), words.slice(half)],
      ]) {
        const inner = { m, logs: state.logs.slice(), orders: state.orders.slice() },
          more = [...steps];
        out.forEach((word, i) => more.push(eliminate(inner, word, [...out.slice(i + 1), ...kept])));
        if (!walk(inner, kept, more)) return false;
      }
      return true;
    }
    const found = headWeights(start, words[0], steps);
    if (logZ === null) {
      logZ = steps.reduce((sum, step) => sum + step.total, found.total);
      const roots = steps.reduce((sum, step) => sum + step.order, found.order);
      if (!(logZ > -Infinity) || (singleRoot && roots > 1)) return false;
    }
    writeProbabilities(found, words[0], m, probs.subarray(words[0] * m, words[0] * m + m));
    return true;
  };
  return walk(
    start,
    Array.from({ length: n }, (_, i) => i + 1),
    [],
  )
    ? { probs, logZ }
    : null;
}

/* The probabilities of one word's heads, n+1 numbers. */
function headProbabilities(weights, n, singleRoot, given, word) {
  const start = startOf(withHeads(weights, n, given), n, singleRoot),
    m = n + 1;
  const state = { m, logs: start.logs.slice(), orders: start.orders.slice() };
  const left = new Set(Array.from({ length: n }, (_, i) => i + 1)),
    steps = [];
  for (let other = 1; other <= n; other++) {
    if (other === word) continue;
    left.delete(other);
    steps.push(eliminate(state, other, [...left]));
  }
  const probs = new Float64Array(m);
  writeProbabilities(headWeights(start, word, steps), word, m, probs);
  return probs;
}

/* Shannon's entropy in nats: log Z less the mean of a tree's log-weight. */
function entropyOf(weights, n, sums) {
  let mean = 0;
  sums.probs.forEach((p, arc) => (mean += p > 0 ? p * weights[arc] : 0));
  return Math.max(0, sums.logZ - mean);
}
