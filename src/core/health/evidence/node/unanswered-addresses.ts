import type { ClusterState } from "../../../cluster/snapshot.ts";

/** The most addresses that a text names. */
const namedMax = 3;

/**
 * Why no address of a cluster without nodes answers, by the last failures: `10.0.0.1:8008 and 10.0.0.2:8008 do not
 * answer: connection refused`. Of several causes, that of the most addresses; the others are counted.
 * @returns `null` if none has failed
 */
export function unansweredText({ contacts }: ClusterState): string | null {
  const byCause = new Map<string, string[]>();
  for (const [api, { failure }] of contacts) {
    if (failure === null) continue;
    const addresses = byCause.get(failure.detail) ?? [];
    byCause.set(failure.detail, addresses);
    addresses.push(/^https?:/.test(api) ? new URL(api).host : api);
  }
  const [most, ...others] = [...byCause].toSorted(([, one], [, other]) => other.length - one.length);
  if (most === undefined) return null;
  const [cause, addresses] = most;
  const more = addresses.length > namedMax ? ` and ${addresses.length - namedMax} more` : "";
  const verb = addresses.length === 1 ? "does" : "do";
  const otherCount = others.reduce((sum, [, each]) => sum + each.length, 0);
  const rest = otherCount === 0 ? "" : `; ${otherCount} ${otherCount === 1 ? "fails" : "fail"} otherwise`;
  return `${addresses.slice(0, namedMax).join(", ")}${more} ${verb} not answer: ${cause}${rest}`;
}
