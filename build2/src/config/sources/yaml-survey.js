import { isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
/**
 * Visits each node of a document once, without following aliases. Recursive: the document must not be nested deeply.
 */
export function surveyDocument(document) {
    const duplicates = [];
    const unresolved = [];
    const targets = new Map();
    const anchors = new Map();
    const walk = (node, path) => {
        if (!isNode(node))
            return;
        if (isAlias(node)) {
            const target = anchors.get(node.source);
            if (target === undefined)
                unresolved.push({ alias: node.source, path, offset: offsetOf(node) ?? 0 });
            else
                targets.set(node, target);
        }
        else if (node.anchor !== undefined)
            anchors.set(node.anchor, node);
        if (isSeq(node))
            for (const [index, item] of node.items.entries())
                walk(item, [...path, index]);
        if (!isMap(node))
            return;
        const seen = new Set();
        for (const { key, value } of node.items) {
            walk(key, path);
            const inner = [...path, keyText(key)];
            if (seen.has(keyText(key)))
                duplicates.push({ path: inner, offset: offsetOf(key) ?? 0 });
            seen.add(keyText(key));
            walk(value, inner);
        }
    };
    walk(document.contents, []);
    return { duplicates, unresolved, targets };
}
/** Returns a key as it is in the parsed value. */
export function keyText(key) {
    return isScalar(key) ? String(key.value) : String(key);
}
/** Returns the position where a node begins, if it was parsed from a text. */
export function offsetOf(node) {
    return isNode(node) ? node.range?.[0] : undefined;
}
//# sourceMappingURL=yaml-survey.js.map