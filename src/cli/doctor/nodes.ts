import type { Observation } from "../../cluster/observation.ts";
import { majorVersion } from "../../cluster/documents/report.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { withholdsPassword } from "../../health/evidence/node-password.ts";
import { policyOf } from "../../state/clusters.ts";
import type { DoctorContext } from "./doctor.ts";

/** Versions whose answers are known (reference/node-api.md). */
const knownMajors: readonly number[] = [3, 4];

/** Every node of every cluster must answer. */
export function checkNodes({ context: { result }, probed: { snapshot } }: DoctorContext): void {
  for (const cluster of snapshot.clusters) {
    if (cluster.nodes.length === 0)
      result.diagnose("RC112", { message: `cluster ${cluster.name}: no seed told of a member` });
    for (const { node, report, failure } of cluster.nodes) {
      if (report === null)
        result.diagnose("RC100", {
          message: `${cluster.name}/${node.name} at ${node.api ?? node.exporter}: ${failure?.detail ?? "no answer in time"}`,
        });
    }
  }
  const all = snapshot.clusters.flatMap(({ nodes }) => nodes);
  result.cover("nodes", "complete", {
    detail: `${all.filter(({ report }) => report !== null).length} of ${all.length} nodes answer`,
  });
}

/** Every node says a version that is known, the same within a cluster. */
export function checkVersions({ context: { result }, probed: { snapshot } }: DoctorContext): void {
  for (const cluster of snapshot.clusters) {
    const versions = new Map<string, string[]>();
    for (const { node, report } of answeringNodes(cluster)) {
      const major = majorVersion(report);
      const version = report.version ?? "none";
      versions.set(version, [...(versions.get(version) ?? []), node.name]);
      if (major === null || !knownMajors.includes(major))
        result.diagnose("RC101", { message: `${cluster.name}/${node.name} says version ${version}` });
    }
    const told = [...versions].map(([version, names]) => `${version} (${names.join(", ")})`);
    if (versions.size > 1) result.diagnose("RC102", { message: `cluster ${cluster.name} runs ${told.join(", ")}` });
  }
  coverHeard("versions", { result, snapshot });
}

/** Nodes of one cluster state its scope and one system identifier. */
export function checkIdentity({ context: { result }, probed: { snapshot } }: DoctorContext): void {
  for (const cluster of snapshot.clusters) {
    const systems = new Map<string, string[]>();
    for (const { node, report } of answeringNodes(cluster)) {
      if (report.scope !== null && cluster.scope !== null && report.scope !== cluster.scope) {
        result.diagnose("RC104", {
          message: `${cluster.name}/${node.name} states scope ${report.scope}, the cluster's is ${cluster.scope}`,
        });
      }
      if (report.system !== null) systems.set(report.system, [...(systems.get(report.system) ?? []), node.name]);
    }
    const told = [...systems].map(([system, names]) => `${system} (${names.join(", ")})`);
    if (systems.size > 1)
      result.diagnose("RC105", { message: `cluster ${cluster.name} has system identifiers ${told.join(", ")}` });
  }
  coverHeard("identity", { result, snapshot });
}

/** The node password goes to no http address that a member list names in a cluster with TLS. */
export function examinePassword({ context: { result }, config, probed: { snapshot } }: DoctorContext): void {
  const withheld = config.clusters.flatMap((cluster) => {
    const state = snapshot.clusters.find(({ name }) => name === cluster.name);
    const policy = policyOf(cluster, config.probe);
    return (state?.nodes ?? [])
      .filter(({ node }) => withholdsPassword(node, policy))
      .map(({ node }) => `${cluster.name}/${node.name} at ${node.api}`);
  });
  for (const message of withheld) result.diagnose("RC113", { message });
  const hasPassword = config.clusters.some(({ auth }) => auth !== null);
  if (hasPassword) result.cover("password", "complete", { detail: `withheld from ${withheld.length} nodes` });
  else result.cover("password", "not_applicable", { detail: "no node password is configured" });
}

/** What no node has told cannot be examined. */
function coverHeard(
  id: string,
  { result, snapshot }: Pick<DoctorContext["context"], "result"> & Pick<DoctorContext["probed"], "snapshot">,
): void {
  const count = snapshot.clusters.reduce((sum, cluster) => sum + answeringNodes(cluster).length, 0);
  result.cover(id, count === 0 ? "incomplete" : "complete", {
    detail: count === 0 ? "no node has answered" : `of ${count} nodes that answer`,
  });
}

/** The nodes that have answered, with what they said. */
export function answeringNodes({ nodes }: ClusterState): readonly {
  readonly node: Observation["node"];
  readonly report: NonNullable<Observation["report"]>;
}[] {
  return nodes.flatMap(({ node, report }) => (report === null ? [] : [{ node, report }]));
}
