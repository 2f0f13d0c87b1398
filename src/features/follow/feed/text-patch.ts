/** The new text as the parts of the old one that stay: so many characters at its begin and end, and what is between. */
export type TextPatch = readonly [prefix: number, suffix: number, middle: string];

/** What turns one text into another: of two documents of a node only some digits differ. */
export function patchOf(before: string, after: string): TextPatch {
  const most = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < most && before.charCodeAt(prefix) === after.charCodeAt(prefix)) prefix += 1;
  let suffix = 0;
  while (
    suffix < most - prefix &&
    before.charCodeAt(before.length - 1 - suffix) === after.charCodeAt(after.length - 1 - suffix)
  )
    suffix += 1;
  return [prefix, suffix, after.slice(prefix, after.length - suffix)];
}

/** @returns `null` if the patch is not one of this text */
export function withPatch(before: string, [prefix, suffix, middle]: TextPatch): string | null {
  if (prefix + suffix > before.length) return null;
  return before.slice(0, prefix) + middle + before.slice(before.length - suffix);
}
