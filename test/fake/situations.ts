/** A cluster of three nodes, and its situation at an instant. */
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import type { AskedCheck } from "../../src/core/health/rules/asked-checks.ts";
import { nodeOverview } from "../../src/core/health/documents/node-overview.ts";
import { situationOf, type Situation } from "../../src/core/health/documents/situation.ts";
import { ClusterFixture } from "./cluster-fixture.ts";

export const MB = 1024 * 1024;
/** The position of the primary. */
export const end = 100 * MB;

/** pg1 leads; pg2 has all of its WAL, pg3 is 2 MB behind. All answer at each whole second up to `untilMs`. */
export function steady(untilMs = 2_000, options: ConstructorParameters<typeof ClusterFixture>[0] = {}): ClusterFixture {
  const fixture = new ClusterFixture(options);
  for (let at = 0; at <= untilMs; at += 1_000) answerAll(fixture, at);
  return fixture;
}

function answerAll(fixture: ClusterFixture, at: number): void {
  fixture.lead("pg1", at, { xlog: { location: end } });
  followers(fixture, at);
}

/** pg2 has all of the WAL, and pg3 is 2 MB behind. */
export function followers(fixture: ClusterFixture, at: number): void {
  fixture.follow("pg2", at, { xlog: { received_location: end, replayed_location: end } });
  fixture.follow("pg3", at, { xlog: { received_location: end, replayed_location: end - 2 * MB } });
}

/** The situation of a cluster at an instant. */
export function situationAt(
  { cluster, policy }: ClusterFixture,
  nowMs: number,
  asked: readonly AskedCheck[] = [],
): Situation {
  const view = viewAt(cluster, policy, nowMs);
  const nodes = view.cluster.nodes.map((node) => nodeOverview(view, node, asked));
  return situationOf(view, { nodes, asked, wallMs: Date.UTC(2026, 0, 31, 4, 50) + nowMs });
}
