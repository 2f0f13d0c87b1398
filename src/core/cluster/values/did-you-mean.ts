/** Returns the candidate that `text` is most likely a misspelling of, or `null` if none is similar. Ignores case. */
export function didYouMean(text: string, candidates: readonly string[]): string | null {
  const wanted = text.slice(0, 64).toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns what a user may have meant: the first candidate that begins so, else the most similar one, or `null`. */
export function suggest(text: string, candidates: readonly string[]): string | null {
  const bare = text.replace(/^-+/, "");
  const longer = bare.length < 2 ? undefined : candidates.find((candidate) => candidate.startsWith(text));
  return longer ?? didYouMean(text, candidates);
}

/**
 * How many letters to insert, delete, replace or exchange with their neighbour to turn `left` into `right`: the optimal
 * string alignment distance.
 */
function editDistance(left: string, right: string): number {
  let twoAbove: readonly number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const isExchanged = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const exchanged = isExchanged ? (twoAbove[column - 2] ?? 0) + 1 : Infinity;
      current.push(Math.min(replaced, exchanged, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    twoAbove = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
