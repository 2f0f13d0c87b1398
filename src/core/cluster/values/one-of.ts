/**
 * What a name must be: one of the known ones. Where there is none, that: an empty list says nothing.
 * @param what the noun: `oneOf([], "node")` is `a known node, and there is none yet`
 */
export function oneOf(names: Iterable<string>, what: string): string {
  const known = [...names];
  return known.length === 0 ? `a known ${what}, and there is none yet` : `one of ${known.join(", ")}`;
}
