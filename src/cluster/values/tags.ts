import { isObject } from "./json.ts";

/** A node's tags as nodes compare them: strings unchanged, other values as lower-case text. */
export type Tags = ReadonlyMap<string, string>;

const noTags: Tags = new Map();

/** Parses the `tags` of a status or cluster document. A value that is no object has no tags. */
export function parseTags(value: unknown): Tags {
  if (!isObject(value)) return noTags;
  const tags = new Map<string, string>();
  for (const [key, tag] of Object.entries(value)) {
    if (typeof tag === "string") tags.set(key, tag);
    else if (typeof tag === "number" || typeof tag === "boolean") tags.set(key, String(tag).toLowerCase());
  }
  return tags.size === 0 ? noTags : tags;
}

/** Whether a boolean tag such as `noloadbalance` is set: any value does, except an absent, empty or negative one. */
export function isSet(tags: Tags, key: string): boolean {
  const tag = tags.get(key)?.toLowerCase();
  return tag !== undefined && !["", "0", "false", "off", "no"].includes(tag);
}
