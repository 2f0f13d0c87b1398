/** What a companion is called, for messages. */
export const companionAllowed = "a name of 1 to 63 letters, digits, dots, hyphens and underscores, such as pgbouncer";

/** The name of a companion: valid in a query and in a list with commas. */
export const companionPattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** How many companions a cluster may have. */
export const companionsMax = 8;

/** What a list of companions is, for messages. */
export const companionsAllowed =
  "one or more names of companions with commas between, such as pgbouncer or pgbouncer,exporter";

/** Parses a list of names with commas between. Returns `undefined` if it is none. */
export function parseCompanions(text: string): readonly string[] | undefined {
  const names = text.split(",");
  return names.length <= companionsMax && names.every((name) => companionPattern.test(name))
    ? [...new Set(names)]
    : undefined;
}
