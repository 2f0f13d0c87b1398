import type { Observation } from "../../cluster/observation.ts";
import { majorVersion } from "../../cluster/report.ts";
import type { ClusterPart } from "../../cluster/snapshot.ts";
import { withholdsPassword } from "../../health/node-password.ts";
import { settingsOf } from "../../tend.ts";
import type { Patient } from "./doctor.ts";

/** Versions whose answers are known (reference/node-api.md). */
const knownMajors: readonly number[] = [3, 4];

/** Every node of every cluster must answer. */
export function examineNodes({ session: { result }, probed: { snapshot } }: Patient): void {
  for (const part of snapshot.parts) {
    if (part.nodes.length === 0) result.diagnose("RC112", { message: `cluster ${part.name}: no seed told of a member` });
    for (const { node, report, failure } of part.nodes) {
      if (report === null)
        result.diagnose("RC100", {
          message: `${part.name}/${node.name} at ${node.api ?? node.exporter}: ${failure?.detail ?? "no answer in time"}`,
        });
    }
  }
  const all = snapshot.parts.flatMap(({ nodes }) => nodes);
  result.cover("nodes", "complete", { detail: `${all.filter(({ report }) => report !== null).length} of ${all.length} nodes answer` });
}

/** Every node says a version that is known, the same within a cluster. */
export function examineVersions({ session: { result }, probed: { snapshot } }: Patient): void {
  for (const part of snapshot.parts) {
    const versions = new Map<string, string[]>();
    for (const { node, report } of heard(part)) {
      const major = majorVersion(report);
      const version = report.version ?? "none";
      versions.set(version, [...(versions.get(version) ?? []), node.name]);
      if (major === null || !knownMajors.includes(major))
        result.diagnose("RC101", { message: `${part.name}/${node.name} says version ${version}` });
    }
    const told = [...versions].map(([version, names]) => `${version} (${names.join(", ")})`);
    if (versions.size > 1) result.diagnose("RC102", { message: `cluster ${part.name} runs ${told.join(", ")}` });
  }
  coverHeard("versions", { result, snapshot });
}

/** Nodes of one cluster state its scope and one system identifier. */
export function examineIdentity({ session: { result }, probed: { snapshot } }: Patient): void {
  for (const part of snapshot.parts) {
    const systems = new Map<string, string[]>();
    for (const { node, report } of heard(part)) {
      if (report.scope !== null && part.scope !== null && report.scope !== part.scope) {
        result.diagnose("RC104", { message: `${part.name}/${node.name} states scope ${report.scope}, the cluster's is ${part.scope}` });
      }
      if (report.system !== null) systems.set(report.system, [...(systems.get(report.system) ?? []), node.name]);
    }
    const told = [...systems].map(([system, names]) => `${system} (${names.join(", ")})`);
    if (systems.size > 1) result.diagnose("RC105", { message: `cluster ${part.name} has system identifiers ${told.join(", ")}` });
  }
  coverHeard("identity", { result, snapshot });
}

/** The node password goes to no http address that a member list names in a cluster with TLS. */
export function examinePassword({ session: { result }, config, probed: { snapshot } }: Patient): void {
  const withheld = config.clusters.flatMap((cluster) => {
    const part = snapshot.parts.find(({ name }) => name === cluster.name);
    const settings = settingsOf(cluster, config.probe);
    return (part?.nodes ?? [])
      .filter(({ node }) => withholdsPassword(node, settings))
      .map(({ node }) => `${cluster.name}/${node.name} at ${node.api}`);
  });
  for (const message of withheld) result.diagnose("RC113", { message });
  const hasPassword = config.clusters.some(({ auth }) => auth !== null);
  if (hasPassword) result.cover("password", "complete", { detail: `withheld from ${withheld.length} nodes` });
  else result.cover("password", "not_applicable", { detail: "no node password is configured" });
}

/** What no node has told cannot be examined. */
function coverHeard(id: string, { result, snapshot }: Pick<Patient["session"], "result"> & Pick<Patient["probed"], "snapshot">): void {
  const count = snapshot.parts.reduce((sum, part) => sum + heard(part).length, 0);
  result.cover(id, count === 0 ? "incomplete" : "complete", {
    detail: count === 0 ? "no node has answered" : `of ${count} nodes that answer`,
  });
}

/** The nodes that have answered, with what they said. */
export function heard({
  nodes,
}: ClusterPart): readonly { readonly node: Observation["node"]; readonly report: NonNullable<Observation["report"]> }[] {
  return nodes.flatMap(({ node, report }) => (report === null ? [] : [{ node, report }]));
}
