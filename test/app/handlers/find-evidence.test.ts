import assert from "node:assert/strict";
import { test } from "node:test";
import { type EvidenceSources, findEvidence } from "../../../src/app/handlers/main-backend.ts";
import type { Recorded } from "../../../src/core/cluster/outcome.ts";
import type { Accused } from "../../../src/core/events/accusation-history.ts";
import type { PageReadingContext } from "../../../src/core/http/diagnostics/diagnostics-sources.ts";

const drain = { reason: "disk swap", by: null, extent: "all" as const, untilMs: 90_000, since: "", until: "" };
const held: Recorded = {
  atMs: 100,
  atWallMs: 100,
  outcome: { kind: "drain", cluster: "demo", node: "pg1", drain },
};
const probed: Recorded = {
  atMs: 600,
  atWallMs: 600,
  outcome: { kind: "liveness", cluster: "demo", node: "pg1", sentAtMs: 590, isAlive: true },
};
const detached: Accused = new Map([["pg2", ["detached"]]]);
const rendering = { turn: { charge: () => {} }, signal: new AbortController().signal } as unknown as PageReadingContext;

/** Evidence in memory since 50, a history since 10, and how often the disk was read. pg2 is accused since 300. */
function sourcesOf(recorded: readonly Recorded[]): { sources: EvidenceSources; reads: string[] } {
  const reads: string[] = [];
  const sources: EvidenceSources = {
    eventLog: {
      evidenceSinceMs: 50,
      recorded: () => recorded,
      accused: (_cluster, wallMs) => (wallMs > 300 ? detached : new Map()),
    },
    past: {
      oldestEvidenceMs: async () => {
        reads.push("oldest");
        return 10;
      },
      readEvidence: async () => {
        reads.push("evidence");
        return { subject: null, recorded: [], accused: new Map(), isComplete: true };
      },
    },
  };
  return { sources, reads };
}

test("accusations are those before the first outcome of the time, not before a drain that began earlier", async () => {
  const time = { cluster: "demo", fromWallMs: 500, toWallMs: 700 };
  for (const recorded of [[held, probed], [probed], [held]])
    assert.deepEqual((await findEvidence(sourcesOf(recorded).sources, time, rendering)).accused, detached);
});

test("the disk is read only if memory does not have the evidence of the time", async () => {
  const find = async (fromWallMs: number, recorded: readonly Recorded[]): Promise<unknown> => {
    const { sources, reads } = sourcesOf(recorded);
    const { sinceWallMs } = await findEvidence(sources, { cluster: "demo", fromWallMs, toWallMs: 700 }, rendering);
    return [reads, sinceWallMs];
  };
  assert.deepEqual(await find(500, [probed]), [[], 50]);
  assert.deepEqual(await find(500, []), [["oldest"], 10]);
  assert.deepEqual(await find(20, [probed]), [["oldest", "evidence"], 10]);
});
