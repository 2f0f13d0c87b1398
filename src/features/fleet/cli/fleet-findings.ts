import { countText } from "../../../core/health/wording.ts";
import { isObject, listOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { safe } from "../../../core/command/output/style.ts";
import type { ResultBuilder } from "../../../core/command/result/builder.ts";

/** Reports what is wrong with a fleet, as a member shows it in `GET /fleet` (RC134). */
export function diagnoseFleet(fleet: JsonObject, result: Pick<ResultBuilder, "diagnose">): void {
  const [name, member, phase, problem] = ["name", "member", "phase", "problem"].map((key) => textOf(fleet[key]));
  if (phase !== "joined")
    result.diagnose("RC134", { message: safe(`${member} is apart from fleet ${name}: ${problem || phase}`) });
  else if (problem !== "")
    result.diagnose("RC134", {
      message: safe(`etcd refuses what ${member} writes for fleet ${name}: ${problem}`),
      action: "Correct etcd. Meanwhile nothing moves: clusters whose owner ends get no other one.",
    });
  for (const { key, members, clusters } of differencesOf(fleet).values()) {
    const [first = "", ...more] = clusters;
    const what = more.length === 0 ? first : `${first} and ${countText(more.length, "more cluster")}`;
    const whose = members.join(", ");
    result.diagnose("RC134", {
      message: safe(`${what}: not shared with ${whose}, because ${differenceText(key)}`),
      action:
        key === "version"
          ? "Finish the upgrade: both versions probe the cluster meanwhile."
          : "Make the configurations alike: both sides probe the cluster meanwhile.",
      severity: "warning",
    });
  }
  for (const { cluster, disagreements } of listOf(fleet["clusters"]).filter(isObject))
    for (const { node, says } of listOf(disagreements).filter(isObject))
      result.diagnose("RC134", {
        message: safe(`${textOf(cluster)}/${textOf(node)}: its owners disagree: ${sayingsText(says)}`),
        action:
          "Look for a network that one of the owners does not pass. An answer of the node counts, and two primaries never do.",
        severity: "warning",
      });
}

/** What each owner of a cluster says of a node. */
export function sayingsText(says: unknown): string {
  return listOf(says)
    .filter(isObject)
    .map(({ member, text }) => `${textOf(member)} says it ${textOf(text)}`)
    .join(", ");
}

/** Why members do not share a cluster. @param key the first key in which their configurations differ */
export function differenceText(key: string): string {
  return key === "version" ? "its version differs" : `its ${key} differs`;
}

interface Difference {
  readonly key: string;
  readonly members: readonly string[];
  readonly clusters: string[];
}

/** The clusters that are not shared, those of the same members and key together. */
function differencesOf(fleet: JsonObject): ReadonlyMap<string, Difference> {
  const differences = new Map<string, Difference>();
  for (const { cluster, groups } of listOf(fleet["clusters"]).filter(isObject))
    for (const { differs, members: listed } of listOf(groups).filter(isObject)) {
      if (typeof differs !== "string") continue;
      const members = listOf(listed).map(textOf);
      const id = JSON.stringify([differs, members]);
      const known = differences.get(id) ?? { key: differs, members, clusters: [] };
      known.clusters.push(textOf(cluster));
      differences.set(id, known);
    }
  return differences;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
