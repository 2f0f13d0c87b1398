import assert from "node:assert/strict";
import { emptyCluster } from "../../src/core/cluster/empty-cluster.ts";
import { neverProbed } from "../../src/core/cluster/observation.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { Report } from "../../src/core/cluster/documents/report.ts";
import { plainCheck, type Check } from "../../src/core/health/check.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { explain } from "../../src/core/health/rules/explain.ts";
import { judge } from "../../src/core/health/rules/judge.ts";
import { shownLag } from "../../src/core/health/evidence/position/present-lag.ts";
import { withNodes } from "../../src/core/health/observe/membership.ts";
import type { Route } from "../../src/core/health/route.ts";
import { Store, type MonitoredCluster } from "../../src/core/state/store.ts";
import { failedOutcome, policyOf, statusOutcome, type Name } from "../core/health/arbitraries.ts";

export const MB = 1 << 20;

export function monitored(name: string, source?: string): MonitoredCluster {
  const nodes = ["pg1", "pg2"].map((node) =>
    neverProbed({
      name: node,
      member: node,
      api: `http://${name}-${node}:8008`,
      exporter: null,
      database: null,
      isFixed: true,
      isMemberFixed: true,
      isArchiveFed: false,
      zone: null,
    }),
  );
  const cluster = withNodes(emptyCluster({ name, scope: "demo", discover: [] }), nodes);
  return { cluster, policy: { ...policyOf(), ...(source === undefined ? {} : { source }) } };
}

/** A source and a standby cluster of it, or a chain of them. Positions in MiB. */
export class StandbyPair {
  readonly store: Store;

  constructor(clusters = [monitored("standby", "main"), monitored("main")]) {
    this.store = new Store("test", clusters);
  }

  status(cluster: string, node: Name, atMs: number, fields: Partial<Report> & { readonly hasLock?: boolean }): void {
    const outcome: ProbeOutcome = { ...statusOutcome(node, atMs, fields), cluster };
    this.store.record(outcome, atMs + 10);
  }

  fail(cluster: string, node: Name, atMs: number): void {
    const outcome: ProbeOutcome = { ...failedOutcome(node, atMs), cluster };
    this.store.record(outcome, atMs + 10);
  }

  main(atMs: number, location: number, fields: Partial<Report> = {}): void {
    this.status("main", "pg1", atMs, { hasLock: true, location: location * MB, timeline: 1, ...fields });
  }

  leader(atMs: number, replayed: number, fields: Partial<Report> = {}): void {
    const reached = replayed * MB;
    this.status("standby", "pg1", atMs, {
      hasLock: true,
      role: "standby_leader",
      timeline: 1,
      location: null,
      received: reached,
      replayed: reached,
      ...fields,
    });
  }

  replica(atMs: number, replayed: number): void {
    const reached = replayed * MB;
    this.status("standby", "pg2", atMs, { role: "replica", timeline: 1, received: reached, replayed: reached });
  }

  ask(node: Name, route: Route, limits: Partial<Check>, atMs: number): string {
    const view = this.#view(atMs);
    const observation = view.cluster.nodes[node === "pg1" ? 0 : 1];
    assert.ok(observation !== undefined);
    const check = { ...plainCheck(route), ...limits };
    const verdict = judge(view, observation, check);
    const { rules, decisive } = explain(view, observation, check);
    if (!verdict.fit) assert.equal(rules[decisive ?? -1]?.reason, verdict.reason, JSON.stringify(rules));
    return verdict.fit ? "fit" : verdict.reason;
  }

  lag(node: Name, atMs: number): readonly (number | null)[] {
    const view = this.#view(atMs);
    const observation = view.cluster.nodes[node === "pg1" ? 0 : 1];
    assert.ok(observation !== undefined);
    const { bytes, timeMs } = shownLag(view, observation);
    return [bytes === null ? null : bytes / MB, timeMs];
  }

  #view(atMs: number): ReturnType<typeof viewAt> {
    const cluster = this.store.current.clusters[0];
    assert.ok(cluster !== undefined);
    return viewAt(cluster, this.store.policyOf("standby") ?? policyOf(), atMs);
  }
}
