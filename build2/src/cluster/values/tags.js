import { isObject } from "./json.js";
const noTags = new Map();
/** Parses the `tags` of a status or cluster document. A value that is no object has no tags. */
export function parseTags(value) {
    if (!isObject(value))
        return noTags;
    const tags = new Map();
    for (const [key, tag] of Object.entries(value)) {
        if (typeof tag === "string")
            tags.set(key, tag);
        else if (typeof tag === "number" || typeof tag === "boolean")
            tags.set(key, String(tag).toLowerCase());
    }
    return tags.size === 0 ? noTags : tags;
}
/** Whether a boolean tag such as `noloadbalance` is set: any value does, except an absent, empty or negative one. */
export function isSet(tags, key) {
    const tag = tags.get(key)?.toLowerCase();
    return tag !== undefined && !["", "0", "false", "off", "no"].includes(tag);
}
//# sourceMappingURL=tags.js.map