import assert from "node:assert/strict";
import { test } from "node:test";
import { App } from "../../src/app/app.ts";
import { defaultGuards } from "../../src/core/health/guards.ts";
import { startSimulator, type Simulator } from "../../src/tools/simulator/simulator.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { assertReplayed, seen } from "./replayed.ts";

const checks = [
  "/primary",
  "/replica",
  "/replica?lag=1MB",
  "/read-only",
  "/readiness",
  "/health",
  "/liveness",
  "/async",
  "/leader?miss=404",
];

const questions = ["pg1", "pg2", "pg3", "pg4"].flatMap((node) => checks.map((check) => `${node} ${check}`));

/** A change of the simulated cluster, and the answer that shows that rolecall has seen it. */
const scenes: readonly { readonly act: (simulator: Simulator) => Promise<unknown>; readonly until: string }[] = [
  { act: async () => {}, until: "pg1 /primary: 200 fit" },
  {
    act: (simulator) => simulator.fault("pg2", { kind: "lag", bytes: 64 * 2 ** 20 }),
    until: "pg2 /replica?lag=1MB: 503 lagging",
  },
  { act: (simulator) => simulator.fault("pg3", { kind: "detach" }), until: "pg3 /replica: 503 detached" },
  { act: (simulator) => simulator.fault("pg4", { kind: "garbage", style: "json" }), until: "pg4 /replica: 503 down" },
  { act: (simulator) => simulator.fault("pg3", { kind: "heal" }), until: "pg3 /replica: 200 fit" },
  { act: switchOver, until: "pg3 /primary: 200 fit" },
  { act: async () => {}, until: "pg1 /primary: 503 demoted" },
  { act: (simulator) => simulator.fault("pg1", { kind: "kill" }), until: "pg1 /liveness: 503 down" },
];

test("an exported incident, played again, gives the answers that were given at the time", async () => {
  const simulator = await startSimulator({
    nodes: 4,
    port: 0,
    ttlMs: 3_000,
    loopWaitMs: 500,
    retryTimeoutMs: 500,
    switchoverMs: 300,
  });
  const guards = { ...defaultGuards, attachWindowMs: 1_000 };
  const cluster = clusterOf({ discover: simulator.nodes.map(({ url }) => url), guards });
  const app = new App(
    configOf({
      clusters: [cluster],
      listen: [listenerOf({ cluster: "demo", wholeCluster: true, operatorPages: true })],
    }),
    silentLogger,
  );
  try {
    await app.start();
    const base = `http://127.0.0.1:${app.listeners[0]?.port}`;
    for (const { act, until } of scenes) {
      await act(simulator);
      await seen(base, until);
      await assertReplayed(base, questions);
    }
  } finally {
    await app.stop({ drains: false });
    await simulator.stop();
  }
});

async function switchOver({ nodes }: Simulator): Promise<void> {
  const body = JSON.stringify({ leader: "pg1", candidate: "pg3" });
  const { status } = await fetch(`${nodes[0]?.url}/switchover`, { method: "POST", body });
  assert.equal(status, 200);
}
