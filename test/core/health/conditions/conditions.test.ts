/** What each condition makes of a small state of a cluster: in the log of events, the status, `explain` and the findings. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, suite, test } from "node:test";
import { parse } from "yaml";
import type { ProbeOutcome } from "../../../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { remedyOf } from "../../../../src/cli/explain/remedies.ts";
import { diagnoseClusters } from "../../../../src/cli/status/diagnosis.ts";
import { EventDetector } from "../../../../src/core/events/detection/event-detector.ts";
import { VerdictChanges } from "../../../../src/core/events/verdict-changes.ts";
import { conditions } from "../../../../src/core/health/conditions/conditions.ts";
import { remarksOn } from "../../../../src/core/health/documents/explanation-document.ts";
import { liveCluster } from "../../../../src/core/health/documents/live-cluster.ts";
import { headlineOf } from "../../../../src/core/health/documents/situation.ts";
import { viewAt } from "../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { askedChecks } from "../../../../src/core/health/rules/asked-checks.ts";
import { ClusterFixture, type FixtureOptions } from "../../../fake/cluster-fixture.ts";
import { runScenario, type Step } from "../../../fake/scenario.ts";

/** The state of a cluster, and all that is said of it. */
interface Row extends FixtureOptions {
  /** The condition that the row is about; with `not`, the row is its mirror image. */
  readonly condition: string;
  readonly not?: boolean;
  readonly title: string;
  /** What happens in each second of a time, and what happens beside that. */
  readonly rounds?: readonly { readonly from: number; readonly until: number; readonly each: readonly Step[] }[];
  readonly steps?: readonly Step[];
  /** In seconds. */
  readonly at: number;
  /** The lags in bytes that checks of balancers allow. */
  readonly asked?: readonly number[];
  readonly twins?: readonly { readonly cluster: string; readonly primary: string }[];
  /** Addresses that are disputed, by member, and nodes that are reached at a configured address alone. */
  readonly disputes?: { readonly [member: string]: readonly string[] };
  readonly unlisted?: readonly string[];
  /** Discovered nodes that the newest list does not name. */
  readonly removed?: readonly string[];
  /** All events up to then. */
  readonly events: readonly string[];
  /** `ok`, or the condition and the headline. */
  readonly status: string;
  readonly next?: string;
  readonly do?: string;
  /** Remarks, and what would make a node fit for its role. */
  readonly explain: readonly string[];
  /** The findings of `rolecall status`. */
  readonly rules: readonly string[];
}

/** A cluster whose events are found as outcomes are recorded. */
class WatchedCluster extends ClusterFixture {
  readonly events: string[] = [];
  readonly #changes = new VerdictChanges();
  readonly #detector: EventDetector;
  readonly #patch: (cluster: ClusterState) => ClusterState;

  constructor(row: Row, patch: (cluster: ClusterState) => ClusterState) {
    const { nodes, cluster, policy, accused } = row;
    super({
      ...(accused === undefined ? {} : { accused }),
      ...(nodes === undefined ? {} : { nodes }),
      ...(cluster === undefined ? {} : { cluster }),
      ...(policy === undefined ? {} : { policy }),
    });
    this.#patch = patch;
    this.#detector = new EventDetector({ asked: () => askedOf(row) });
  }

  override record(outcome: ProbeOutcome, nowMs: number): ClusterState {
    const before = this.cluster;
    super.record(outcome, nowMs);
    this.look(before, nowMs);
    return this.cluster;
  }

  look(before: ClusterState, nowMs: number): void {
    const policy = this.policy;
    const changes = this.#changes.find(before, this.cluster, { policy, nowMs });
    const found = this.#detector.find(this.#patch(this.cluster), this.#changes.summaries("demo"), {
      policy,
      nowMs,
      isVerdictChanged: changes.length > 0,
    });
    for (const { kind, severity, node, message } of found)
      this.events.push(`${nowMs / 1_000} ${kind} ${severity} ${node ?? "-"}: ${message}`);
  }
}

function askedOf({ asked = [] }: Row): ReturnType<typeof askedChecks> {
  const none = { lag_ms: null, keep: 0, fallback_primary: false, requested_ms_ago: null, requested_for_ms: null };
  return askedChecks(
    asked.map((bytes) => ({ route: "replica", lag_bytes: bytes, source: "defaults", of: "127.0.0.1:8008", ...none })),
  );
}

/** What is said of the cluster of a row, in the words of the row. */
function saidOf(row: Row): Pick<Row, "events" | "status" | "next" | "do" | "explain" | "rules"> {
  const { at, rounds = [], steps = [], disputes = {}, unlisted = [], removed = [], twins = [], title } = row;
  const patch = (cluster: ClusterState): ClusterState => ({
    ...cluster,
    addressDisputes: new Map(Object.entries(disputes)),
    nodes: cluster.nodes.map((known) => ({
      ...known,
      ...(unlisted.includes(known.node.name) ? { proof: "seed" } : {}),
      ...(removed.length === 0 ? {} : { listedAtMs: removed.includes(known.node.name) ? 0 : at * 1_000 }),
      node: { ...known.node, isFixed: removed.length === 0 },
    })),
  });
  const seconds = rounds.flatMap(({ from, until, each }) =>
    Array.from({ length: until - from + 1 }, (_, second) =>
      each.map((step) => ({ ...step, at: from + second })),
    ).flat(),
  );
  const all = [...seconds, ...steps].toSorted((one, other) => one.at - other.at);
  const watched = new WatchedCluster(row, patch);
  watched.look(watched.cluster, 0);
  runScenario({ title, steps: all }, () => watched);
  watched.look(watched.cluster, at * 1_000);
  const view = viewAt(patch(watched.cluster), watched.policy, at * 1_000);
  const live = liveCluster(view, { asked: askedOf(row), wallMs: Date.UTC(2026, 0, 1) + at * 1_000, twins });
  const { condition, next, action } = live.situation;
  const rules: string[] = [];
  const diagnose = (rule: string): void => void rules.push(rule);
  diagnoseClusters({ diagnose }, [live], []);
  const remarks = view.cluster.nodes.flatMap((node) => remarksOn(view, node));
  const remedies = live.nodes.flatMap(({ node, reason }) => (reason === null ? [] : [`${node}: ${remedyOf(reason)}`]));
  return {
    events: watched.events,
    status: condition === "ok" ? "ok" : `${condition}: ${headlineOf(live.situation)}`,
    ...(next === null ? {} : { next }),
    ...(action === null ? {} : { do: action }),
    explain: [...remarks, ...remedies],
    rules: [...new Set(rules)],
  };
}

const folder = "test/spec/conditions";
const rows = readdirSync(folder).flatMap((file): readonly Row[] => parse(readFileSync(`${folder}/${file}`, "utf8")));

suite("what is said of a cluster", () => {
  for (const row of rows) {
    test(`${row.not === true ? "not " : ""}${row.condition}: ${row.title}`, () => {
      const { events, status, explain, rules } = row;
      const expected = {
        events,
        status,
        ...(row.next === undefined ? {} : { next: row.next }),
        ...(row.do === undefined ? {} : { do: row.do }),
        explain,
        rules,
      };
      assert.deepEqual(saidOf(row), expected);
    });
  }
});

describe("the tables of conditions", () => {
  for (const { id } of conditions)
    test(`${id} has a state in which it holds, and its mirror image`, () => {
      const own = rows.filter(({ condition }) => condition === id);
      assert.ok(own.some(({ not = false }) => !not) && own.some(({ not = false }) => not));
    });

  test("name no other condition", () => {
    const ids = new Set(conditions.map(({ id }) => id));
    assert.deepEqual(
      rows.filter(({ condition }) => !ids.has(condition)),
      [],
    );
  });
});
