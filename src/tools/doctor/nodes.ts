import { countText } from "../../core/health/wording.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import { majorVersion } from "../../core/cluster/documents/report.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { foreignScopeText } from "../../core/health/evidence/node/foreign-scope.ts";
import { isMisaddressed } from "../../core/health/evidence/node/identity.ts";
import { leftOutOf, leftOutText } from "../../core/health/evidence/node/left-out.ts";
import { withholdsPassword } from "../../core/health/evidence/node/node-password.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** The supported major versions of Patroni, whose API the nodes speak. */
const knownMajors: readonly number[] = [3, 4];

/** Reports nodes that do not answer (RC100) and clusters without members (RC112). */
export function checkNodes({ command: { result }, probed: { snapshot } }: DoctorContext): void {
  for (const cluster of snapshot.clusters) {
    if (cluster.nodes.length === 0)
      result.diagnose("RC112", { message: `cluster ${cluster.name}: no seed has reported a member` });
    for (const { node, report, failure } of cluster.nodes) {
      if (report !== null) continue;
      const cause = failure?.detail ?? "no response within the timeout";
      result.diagnose("RC100", {
        message: `${cluster.name}/${node.name} at ${node.api ?? node.exporter}: ${cause}`,
      });
    }
  }
  const all = snapshot.clusters.flatMap(({ nodes }) => nodes);
  result.cover("nodes", "complete", {
    detail: `${all.filter(({ report }) => report !== null).length} of ${countText(all.length, "node")} answered`,
  });
}

/** Reports unknown versions (RC101) and different versions within a cluster (RC102). */
export function checkVersions({ command: { result }, probed: { snapshot } }: DoctorContext): void {
  for (const cluster of snapshot.clusters) {
    const versions = new Map<string, string[]>();
    for (const { node, report } of answeringNodes(cluster)) {
      // A node that is known by its exporter alone has no cluster manager to have a version.
      if (node.api === null) continue;
      const major = majorVersion(report);
      const version = report.version ?? "none";
      versions.set(version, [...(versions.get(version) ?? []), node.name]);
      if (major === null || !knownMajors.includes(major))
        result.diagnose("RC101", { message: `${cluster.name}/${node.name} reports version ${version}` });
    }
    const byVersion = [...versions].map(([version, names]) => `${version} (${names.join(", ")})`);
    if (versions.size > 1)
      result.diagnose("RC102", { message: `cluster ${cluster.name} runs ${byVersion.join(", ")}` });
  }
  coverAnsweringNodes("versions", { result, snapshot });
}

/**
 * Reports nodes of another scope (RC104) or another name (RC166), and different system identifiers within a cluster
 * (RC105).
 */
export function checkIdentity({ command: { result }, probed: { snapshot } }: DoctorContext): void {
  for (const cluster of snapshot.clusters) {
    const systems = new Map<string, string[]>();
    for (const { node, report } of answeringNodes(cluster)) {
      if (report.scope !== null && cluster.scope !== null && report.scope !== cluster.scope) {
        result.diagnose("RC104", {
          message:
            `${cluster.name}/${node.name} reports scope ${report.scope}, ` +
            `but its cluster has scope ${cluster.scope}`,
        });
      }
      if (isMisaddressed(node, report))
        result.diagnose("RC166", {
          message: `${cluster.name}/${node.name} at ${node.api} reports the name ${report.name}, not ${node.member}`,
        });
      if (report.system !== null) systems.set(report.system, [...(systems.get(report.system) ?? []), node.name]);
    }
    const foreign = foreignScopeText(cluster);
    if (foreign !== null) result.diagnose("RC104", { message: `${cluster.name}: ${foreign}` });
    const bySystem = [...systems].map(([system, names]) => `${system} (${names.join(", ")})`);
    if (systems.size > 1)
      result.diagnose("RC105", { message: `cluster ${cluster.name} has system identifiers ${bySystem.join(", ")}` });
  }
  coverAnsweringNodes("identity", { result, snapshot });
}

/**
 * Reports members whose address is disputed (RC167), that are reached at a configured address alone (RC172), and that are
 * left out (RC168).
 */
export function checkAddresses({ command: { result }, probed }: DoctorContext): void {
  for (const cluster of probed.snapshot.clusters) {
    const { name } = cluster;
    const policy = probed.policy(name);
    if (policy === undefined) continue;
    for (const [member, addresses] of cluster.addressDisputes) {
      const message =
        addresses.length > 1
          ? `${name}: ${addresses.join(" and ")} use the name ${member}`
          : `${name}: ${addresses.join()} answers as ${member}, but other nodes list ${member} elsewhere`;
      result.diagnose("RC167", { message });
    }
    for (const { node, proof } of cluster.nodes)
      if (proof === "seed")
        result.diagnose("RC172", { message: `${name}: ${node.name} answers at ${node.api}, which no list has` });
    for (const leftOut of leftOutOf(cluster, policy))
      result.diagnose("RC168", { message: `${name}: ${leftOutText(leftOut)}` });
  }
}

/**
 * Reports nodes that do not get the node password: nodes of a cluster with TLS that a member list names with http
 * (RC113).
 */
export function checkPasswordProtection({ command: { result }, config, probed }: DoctorContext): void {
  const withheld = config.clusters.flatMap((cluster) => {
    const policy = probed.policy(cluster.name);
    if (policy === undefined) return [];
    const nodes = probed.cluster(cluster.name)?.nodes ?? [];
    return nodes
      .filter(({ node }) => withholdsPassword(node, policy))
      .map(({ node }) => `${cluster.name}/${node.name} at ${node.api}`);
  });
  for (const message of withheld) result.diagnose("RC113", { message });
  const hasPassword = config.clusters.some(({ auth }) => auth !== null);
  if (hasPassword)
    result.cover("password", "complete", { detail: `withheld from ${countText(withheld.length, "node")}` });
  else result.cover("password", "not_applicable", { detail: "no node password is configured" });
}

/** Covers a check that needs answers of nodes: incomplete if there is none. */
function coverAnsweringNodes(
  id: string,
  { result, snapshot }: Pick<DoctorContext["command"], "result"> & Pick<DoctorContext["probed"], "snapshot">,
): void {
  const count = snapshot.clusters.reduce((sum, cluster) => sum + answeringNodes(cluster).length, 0);
  result.cover(id, count === 0 ? "incomplete" : "complete", {
    detail: count === 0 ? "no node has answered" : countText(count, "node"),
  });
}

/** The nodes that have answered, with their reports. */
export function answeringNodes({ nodes }: ClusterState): readonly {
  readonly node: Observation["node"];
  readonly report: NonNullable<Observation["report"]>;
}[] {
  return nodes.flatMap(({ node, report }) => (report === null ? [] : [{ node, report }]));
}
