import { isObject } from "./json.ts";

/** A node's tags as the nodes compare them: strings as they are, anything else as lower-case text (reference/node-api.md). */
export type Tags = ReadonlyMap<string, string>;

const noTags: Tags = new Map();

/** Reads the `tags` of a status or cluster document; what is no object has no tags. */
export function parseTags(value: unknown): Tags {
  if (!isObject(value)) return noTags;
  const tags = new Map<string, string>();
  for (const [key, tag] of Object.entries(value)) {
    if (typeof tag === "string") tags.set(key, tag);
    else if (typeof tag === "number" || typeof tag === "boolean") tags.set(key, String(tag).toLowerCase());
  }
  return tags.size === 0 ? noTags : tags;
}

/** Whether a yes-or-no tag such as `noloadbalance` is set: anything but an absent, empty or negative value sets it. */
export function isSet(tags: Tags, key: string): boolean {
  const tag = tags.get(key)?.toLowerCase();
  return tag !== undefined && !["", "0", "false", "off", "no"].includes(tag);
}
