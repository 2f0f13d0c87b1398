import type { DrainExtent } from "../../src/core/cluster/drain.ts";
import type { FailureKind } from "../../src/core/cluster/observation.ts";
import type { ExporterPage, ExporterRole } from "../../src/core/cluster/exporter/exporter-report.ts";
import { primaryPage, replicaPage } from "./exporter-page.ts";
import { ClusterFixture, type FixtureOptions, type NamingDocument } from "./cluster-fixture.ts";

type Fields = { readonly [field: string]: unknown };

/**
 * One step of a scenario, at an instant in seconds: an outcome is recorded, or a check is judged. `sent`: when the
 * answer was requested, if not at that instant.
 */
export type Step = { readonly at: number; readonly sent?: number } & (
  | { readonly leads: string; readonly with?: Fields }
  | { readonly follows: string; readonly with?: Fields }
  | { readonly answers: string; readonly lock: boolean; readonly with?: Fields }
  /** The node's last answer once more, as the same object. */
  | { readonly repeats: string }
  | { readonly fails: string; readonly by: FailureKind; readonly times?: number }
  | { readonly heartbeat: string; readonly alive: boolean }
  | { readonly document: "cluster" | "config" | "history"; readonly of: string; readonly says: unknown }
  | ({ readonly names: string | null; readonly of: string } & Pick<NamingDocument, "timeline" | "lags">)
  /** The leader that each node's cluster document names; `null`: nobody; "none": the request fails. */
  | { readonly views: { readonly [witness: string]: string | null } }
  /** The member in the leader key of the DCS; `null`: nobody; "unreadable": the DCS cannot be read. */
  | { readonly dcs: string | null; readonly source?: string; readonly revision?: number }
  /** The answers of `/up` and `/metrics` of the node's exporter; its database's clock is that of the scenario. */
  | { readonly shows: string; readonly role?: ExporterRole; readonly page?: Partial<ExporterPage> }
  /** What a companion of each node answers: `answered`, or why it does not, `times` in a row. */
  | {
      readonly beside: { readonly [node: string]: { readonly [companion: string]: FailureKind | "answered" } };
      readonly times?: number;
    }
  /** An operator keeps a node out for a minute. */
  | { readonly drains: string; readonly extent: DrainExtent; readonly reason: string }
  | { readonly ask: string | null; readonly is: { readonly [check: string]: string } }
  /** Until when a verdict is valid, in seconds; `.inf`: until something is recorded. */
  | { readonly ask: string | null; readonly until: { readonly [check: string]: number } }
  /** The node whose document answers a check of the whole cluster. */
  | { readonly chooses: { readonly [check: string]: string | null } }
);

/** Outcomes of a cluster and the expected answers; one row of a table in test/spec/judgement. */
export interface Scenario extends FixtureOptions {
  readonly title: string;
  readonly steps: readonly Step[];
}

/**
 * Runs a scenario and returns the answers that differ from the expected ones.
 * @param create makes the cluster that the outcomes are recorded in
 */
export function runScenario(
  { steps, ...setting }: Scenario,
  create: (setting: FixtureOptions) => ClusterFixture = (options) => new ClusterFixture(options),
): readonly string[] {
  const watched = create(setting);
  return steps.flatMap((step) => play(watched, step));
}

/** Returns the cluster after the steps of a scenario. */
export function played({ steps, ...setting }: Omit<Scenario, "title">): ClusterFixture {
  const watched = new ClusterFixture(setting);
  for (const step of steps) play(watched, step);
  return watched;
}

/** Several failures are one interval apart, the last one at the step's instant, so that each counts (rule 8). */
function fail(watched: ClusterFixture, { at, fails, by, times = 1 }: Extract<Step, { fails: string }>): void {
  for (let before = times - 1; before >= 0; before -= 1)
    watched.fail(fails, by, at * 1000 - before * watched.policy.intervalMs);
}

function look(watched: ClusterFixture, { at, sent = at, views }: Extract<Step, { views: unknown }>): void {
  for (const [witness, names] of Object.entries(views)) {
    if (names === "none") watched.failView(witness, at * 1000);
    else watched.nameLeader(names, witness, at * 1000, { sentAtMs: sent * 1000 });
  }
}

function show(watched: ClusterFixture, { shows, role, page }: Extract<Step, { shows: string }>, atMs: number): void {
  const sent = { kind: "exporter", cluster: "demo", node: shows, sentAtMs: atMs, sentAtWallMs: atMs } as const;
  if (role !== undefined) watched.record({ ...sent, result: { endpoint: "up", role } }, atMs);
  if (page === undefined) return;
  const base = page.isInRecovery === true ? replicaPage : primaryPage;
  const whole = { ...base, databaseTimeS: atMs / 1000, ...page };
  watched.record({ ...sent, result: { endpoint: "metrics", page: whole } }, atMs);
}

function beside(watched: ClusterFixture, step: Extract<Step, { beside: unknown }>): void {
  const { at, sent = at, beside: answers, times = 1 } = step;
  for (const [node, companions] of Object.entries(answers))
    for (const [companion, kind] of Object.entries(companions))
      for (let before = times - 1; before >= 0; before -= 1) {
        const earlierMs = before * watched.policy.intervalMs;
        const failure = kind === "answered" ? null : { kind, detail: `an injected ${kind}` };
        const sentAtMs = sent * 1000 - earlierMs;
        watched.record(
          { kind: "companion", cluster: "demo", node, companion, sentAtMs, failure },
          at * 1000 - earlierMs,
        );
      }
}

/** The time of day of a scenario begins at midnight of the first day of 2026. */
function drain(watched: ClusterFixture, step: Extract<Step, { drains: string }>): void {
  const { at, drains: node, extent, reason } = step;
  const [untilMs, wallMs] = [(at + 60) * 1000, Date.UTC(2026, 0, 1)];
  const since = new Date(wallMs + at * 1000).toISOString();
  const until = new Date(wallMs + untilMs).toISOString();
  const order = { reason, by: "ann", extent, untilMs, since, until };
  watched.record({ kind: "drain", cluster: "demo", node, drain: order }, at * 1000);
}

/** Returns a line for each check whose value differs from the expected one. */
function differences<Value>(
  step: Step,
  expected: { readonly [check: string]: Value },
  valueOf: (check: string, wanted: Value) => Value,
): readonly string[] {
  return Object.entries(expected).flatMap(([check, wanted]) => {
    const value = valueOf(check, wanted);
    const of = "ask" in step ? (step.ask ?? "the cluster") : "the choice of the cluster";
    return value === wanted ? [] : [`at ${step.at} s ${of} ${check}: ${String(value)}, expected ${String(wanted)}`];
  });
}

function play(watched: ClusterFixture, step: Step): readonly string[] {
  const atMs = step.at * 1000;
  if ("leads" in step) watched.lead(step.leads, atMs, step.with, (step.sent ?? step.at) * 1000);
  else if ("follows" in step) watched.follow(step.follows, atMs, step.with);
  else if ("answers" in step) watched.answer(step.answers, { hasLock: step.lock, fields: step.with ?? {} }, atMs);
  else if ("repeats" in step) watched.again(step.repeats, atMs);
  else if ("fails" in step) fail(watched, step);
  else if ("heartbeat" in step) watched.recordLiveness(step.heartbeat, step.alive, atMs);
  else if ("document" in step) watched.document(step.document, { of: step.of, value: step.says }, atMs);
  else if ("dcs" in step) watched.readDcs(step.dcs, atMs, step);
  else if ("views" in step) look(watched, step);
  else if ("names" in step) watched.nameLeader(step.names, step.of, atMs, step);
  else if ("shows" in step) show(watched, step, atMs);
  else if ("beside" in step) beside(watched, step);
  else if ("drains" in step) drain(watched, step);
  else if ("until" in step)
    return differences(
      step,
      step.until,
      (check) => (watched.verdict(step.ask, check, atMs)?.validUntilMs ?? NaN) / 1000,
    );
  else if ("chooses" in step) return differences(step, step.chooses, (check) => watched.chosen(check, atMs));
  else
    // An expectation with a space states the figure too; `-` is no figure.
    return differences(step, step.is, (check, wanted) =>
      wanted.includes(" ") ? watched.phrase(step.ask, check, atMs) : watched.judge(step.ask, check, atMs),
    );
  return [];
}
