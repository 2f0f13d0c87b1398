/**
 * The lowest minor version of each major version of Node that the fast path was tried on. Within a major version a later
 * minor has no upper limit: the self-test of each process decides. With a limit, an update of Node would make every
 * check slower until rolecall is updated too.
 */
const lowestMinors: ReadonlyMap<number, number> = new Map([
  [20, 18],
  [22, 11],
  [24, 11],
  [26, 10],
]);

/** The tried versions, for people: `20.18, … and later minor versions of each`. */
export const triedVersions: string = `${[...lowestMinors].map(([major, minor]) => `${major}.${minor}`).join(", ")} and later minor versions of each`;

/** Whether the fast path was tried on the major version of a Node version. @param version such as `20.18.1` */
export function isTriedVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return minor >= (lowestMinors.get(major) ?? Infinity);
}
