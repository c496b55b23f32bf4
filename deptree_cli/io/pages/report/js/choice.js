/* Which arcs beside the tree's are drawn; as `deptree show` chooses them (io/pictures/choice.py). */

const ENOUGH = 0.9,
  MOST_OF_WORD = 3,
  MOST_ABREAST = 8;

const leftOf = (arc) => Math.min(arc.head || arc.dependent, arc.dependent);
const rightOf = (arc) => Math.max(arc.head, arc.dependent);

function besideTree(probs, n, tree, least) {
  const found = [];
  for (let dependent = 1; dependent <= n; dependent++) {
    for (let head = 0; head <= n; head++) {
      const weight = probs[dependent * (n + 1) + head];
      if (weight > 0 && weight >= least && tree[dependent - 1] !== head) found.push({ head, dependent, weight });
    }
  }
  return found.sort((a, b) => b.weight - a.weight);
}

/* Those that bring each word to `ENOUGH` of its mass, fewer where they crowd. */
function chosenBeside(probs, n, tree) {
  const mass = Array.from(tree, (head, i) => probs[(i + 1) * (n + 1) + head]);
  const ofWord = new Array(n).fill(0),
    abreast = new Array(n + 1).fill(0);
  return besideTree(probs, n, tree, LEAST).filter((arc) => {
    const word = arc.dependent - 1;
    if (mass[word] >= ENOUGH || ofWord[word] >= MOST_OF_WORD) return false;
    mass[word] += arc.weight;
    ofWord[word]++;
    const under = abreast.slice(leftOf(arc), rightOf(arc));
    if (Math.max(0, ...under) >= MOST_ABREAST) return false;
    for (let i = leftOf(arc); i < rightOf(arc); i++) abreast[i]++;
    return true;
  });
}

/* All arcs to draw: the tree's, then others; a threshold of null leaves the choice to us. */
function arcsOf(probs, n, tree, threshold) {
  const above = Array.from(tree, (head, i) => ({
    head,
    dependent: i + 1,
    weight: probs[(i + 1) * (n + 1) + head],
    kind: "tree",
  })).filter((arc) => arc.head <= n); // others are no word's
  const below = threshold === null ? chosenBeside(probs, n, tree) : besideTree(probs, n, tree, threshold);
  return [...above, ...below.map((arc) => ({ ...arc, kind: "other" }))];
}
