/**
 * Returns the name that a text is most likely a misspelling of.
 * @returns `null` if no name needs at most two edits (insert, delete or replace a letter)
 */
export function nearestName(text, names) {
    const wanted = text.slice(0, 32).toLowerCase();
    const ranked = names
        .map((name) => ({ name, edits: editsBetween(wanted, name) }))
        .filter(({ name, edits }) => edits <= 2 && edits < name.length - 1)
        .toSorted((one, other) => one.edits - other.edits);
    return ranked[0]?.name ?? null;
}
/** The Levenshtein distance. */
function editsBetween(left, right) {
    let row = Array.from({ length: right.length + 1 }, (_, column) => column);
    for (const [at, letter] of Array.from(left).entries()) {
        const next = [at + 1];
        for (const [column, other] of Array.from(right).entries()) {
            const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
            next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
        }
        row = next;
    }
    return row[right.length] ?? 0;
}
//# sourceMappingURL=nearest-name.js.map