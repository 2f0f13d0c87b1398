/**
 * Whether a token is nested deeper than `max`. Not recursive, because it protects the recursive parser from such
 * documents.
 */
export function isTooDeep(top, max) {
    const open = [{ token: top, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const { token, depth } = next;
        if (depth > max)
            return true;
        for (const inner of innerTokens(token))
            open.push({ token: inner, depth: depth + 1 });
    }
    return false;
}
function innerTokens(token) {
    if (token.type === "document")
        return token.value === undefined ? [] : [token.value];
    if (token.type !== "block-map" && token.type !== "block-seq" && token.type !== "flow-collection")
        return [];
    return token.items.flatMap(({ key, value }) => [key, value]).filter((inner) => inner !== undefined && inner !== null);
}
//# sourceMappingURL=yaml-depth.js.map