/** What a zone is called, for messages. */
export const zoneAllowed = "a zone of 1 to 63 letters, digits, dots, hyphens and underscores, such as eu-central-1a";

/** The name of a zone: valid in a query, in a list with commas, and wherever balancers show it. */
export const zonePattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Whether a text names a zone. */
export function isZone(text: string): boolean {
  return zonePattern.test(text);
}

/** How many zones a list may have. */
const zonesMax = 16;

/** What a list of zones is, for messages. */
export const zonesAllowed = `one to ${zonesMax} zones with commas between, each of 1 to 63 letters, digits, dots, hyphens and underscores, such as a or a,b`;

/** Parses a list of zones with commas between. Returns `undefined` if it is none. */
export function parseZones(text: string): readonly string[] | undefined {
  const zones = text.split(",");
  return zones.length <= zonesMax && zones.every(isZone) ? [...new Set(zones)] : undefined;
}
