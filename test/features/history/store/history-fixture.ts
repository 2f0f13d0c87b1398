import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pino } from "pino";
import type { HistoryDirectoryConfig } from "../../../../src/features/history/config/history-schema.ts";
import type { ClusterEvent } from "../../../../src/core/events/cluster-event.ts";
import { HistoryStore } from "../../../../src/features/history/store/history-store.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";
import { policyOf } from "../../../core/health/arbitraries.ts";

export interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A store with its log, and a clock that a test sets. */
export interface HistoryFixture {
  readonly store: HistoryStore;
  readonly lines: LogLine[];
  /** `nowMs` is the clock of the process, `wallMs` is ms since the epoch. */
  readonly clock: { nowMs: number; wallMs: number };
  cluster: ClusterState;
}

/** A directory that is deleted when the test ends. */
export function temporaryDirectory(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-history-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "history");
}

export function historyConfig(directory: string, more: Partial<HistoryDirectoryConfig> = {}): HistoryDirectoryConfig {
  return { isEnabled: true, directory, sizeMax: 64 * 1024 * 1024, ageMaxMs: 86_400_000, ...more };
}

/** Opens a store, as a process called `run` would. It is closed when the test ends. */
export async function openHistory(
  context: TestContext,
  config: HistoryDirectoryConfig | null,
  run: string = "run1",
): Promise<HistoryFixture> {
  const lines: LogLine[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const clock = { nowMs: 1_000, wallMs: Date.now() };
  const { cluster } = new ClusterFixture();
  const store = new HistoryStore({
    log,
    now: () => clock.nowMs,
    wall: () => clock.wallMs,
    snapshot: () => ({ instance: run, sequence: 0, clusters: [fixture.cluster], index: new Map([[cluster.name, 0]]) }),
    policy: () => policyOf(),
  });
  const fixture: HistoryFixture = { store, lines, clock, cluster };
  await store.configure(config);
  context.after(() => store.stop());
  return fixture;
}

export function eventAt(atMs: number, id: string, more: Partial<ClusterEvent> = {}): ClusterEvent {
  return {
    id,
    at: atMs,
    kind: "primary_lost",
    severity: "error",
    cluster: "demo",
    node: null,
    message: "demo has no primary",
    cause: null,
    figures: { previous_primary: "pg1" },
    ...more,
  };
}

/** The ids of all stored events, oldest first. */
export async function storedIds({ store }: Pick<HistoryFixture, "store">): Promise<readonly string[]> {
  const all = { sinceMs: -Infinity, untilMs: Infinity, limit: 100_000, matches: () => true };
  return (await store.readEvents(all)).events.map(({ id }) => id);
}

/** The names of the files in a directory, but for the lock. */
export function filesIn(directory: string): readonly string[] {
  return readdirSync(directory)
    .filter((name) => name !== "lock")
    .toSorted();
}
