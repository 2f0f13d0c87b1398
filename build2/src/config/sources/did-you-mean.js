/** Returns the candidate that `text` is most likely a misspelling of, or `null` if none is similar. Ignores case. */
export function didYouMean(text, candidates) {
    const wanted = text.slice(0, 64).toLowerCase();
    let best = null;
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
/** The Levenshtein distance: how many letters to insert, delete or replace to turn `left` into `right`. */
function editDistance(left, right) {
    let above = Array.from({ length: right.length + 1 }, (_, column) => column);
    for (let row = 1; row <= left.length; row += 1) {
        const current = [row];
        for (let column = 1; column <= right.length; column += 1) {
            const replaced = (above[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
            current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
        }
        above = current;
    }
    return above[right.length] ?? 0;
}
//# sourceMappingURL=did-you-mean.js.map