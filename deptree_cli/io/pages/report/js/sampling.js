/* An exact random tree: each word's head is drawn given those drawn before. O(n^4), which is quick for a sentence. */

function sampleTree(weights, n, singleRoot, given, random = Math.random) {
  const drawn = new Map(given);
  for (let word = 1; word <= n; word++) {
    if (!drawn.has(word)) drawn.set(word, drawFrom(headProbabilities(weights, n, singleRoot, drawn, word), random()));
  }
  return Array.from({ length: n }, (_, i) => drawn.get(i + 1));
}

function drawFrom(probs, uniform) {
  let left = uniform,
    last = 0;
  for (let head = 0; head < probs.length; head++) {
    if (probs[head] <= 0) continue;
    last = head;
    left -= probs[head];
    if (left < 0) return head;
  }
  return last; // what rounding left over
}
