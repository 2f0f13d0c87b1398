/**
 * Returns the decoded path of a target, without its query, and without the origin of an absolute target. The path is
 * not normalized: `/up/` differs from `/up`.
 * @returns `null` if the target cannot be decoded
 */
export function pathOf(target: string): string | null {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const end = local.search(/[?#]/);
  const path = end < 0 ? local : local.slice(0, end);
  try {
    return path === "" ? "/" : decodeURIComponent(path);
  } catch {
    return null;
  }
}
