/**
 * Restarts of real databases while clients write and read through two PgBouncers: of the leader, of a replica, one that
 * hangs and one that fails; and without PAUSE, to show that the clients would notice.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { PauseObserver } from "../../proof/switchovers/faults/pause-observer.ts";
import { database, Lab, replicaDatabase } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { type RunDocument, runRestart } from "../../proof/switchovers/run-document.ts";
import { worstWait } from "../../proof/switchovers/waits.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import { freezeMachine } from "./lab/freeze.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { pgbouncer124 } from "./lab/pgbouncer.ts";

const { title: version, found } = pgbouncer124();
if ("notRun" in found) test(`a restart behind ${version}`, { skip: `not run: ${found.notRun}` }, () => {});
else
  for (const patroni of ["3.0.2", "4.1"] as const)
    beside(patroni, `a restart behind ${version}`, (command) => scenarios(command, found.path), 8);

function scenarios(patroni: readonly [string, ...string[]], pgbouncer: string): void {
  let lab: Lab;
  let load: Load;
  before(async () => {
    lab = await Lab.start({ patroni, pgbouncer, route: "file", hasReplicaDatabase: true });
    load = lab.load(12);
  });
  after(async () => {
    await load?.stop();
    await lab?.stop();
  });

  const restart = async (node: PatroniNode, more: Parameters<typeof runRestart>[2] = {}): Promise<RunDocument> => {
    load.mark();
    await until("transactions", () => load.window.acknowledged.length > 1_000);
    const run = await runRestart(lab.api, node.name, { unguarded: true, ...more });
    const atMs = performance.now();
    await until({ what: "transactions of all clients", seconds: 60, evidence: () => lab.rolecall.tail }, () => {
      const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > atMs);
      return new Set(later.map(({ client }) => client)).size === 12 ? true : undefined;
    });
    const { failures, acknowledged } = load.window;
    console.log(
      `${run.text} ${failures.length} failed of ${acknowledged.length}, longest wait ` +
        `${Math.round(worstWait(load.window).waitMs)} ms, held ${run.targets.map(({ held_ms: ms }) => ms).join(", ")} ms`,
    );
    return run;
  };

  test("of the leader: no transaction fails, and every acknowledged row is there once", async () => {
    const leader = await lab.settled();
    const { postmaster } = leader;
    const run = await restart(leader);
    assert.deepEqual(run.outcome, { kind: "restarted", node: leader.name }, lab.rolecall.tail);
    assert.notEqual(leader.postmaster, postmaster);
    assert.deepEqual(load.window.failures, [], lab.rolecall.tail);
    await load.stop();
    const { lost, doubled, foreign } = await load.audit(leader.databasePort);
    assert.deepEqual({ lost, doubled, foreign }, { lost: [], doubled: [], foreign: [] });
    load = lab.load(12);
  });

  test("of a replica: no read fails, and nobody else waits", async () => {
    await lab.settled();
    const [replica] = await lab.cluster.replicas();
    assert.ok(replica !== undefined);
    const readers = new Readers(lab.poolers.map(({ port }) => port));
    try {
      await until("reads", () => readers.answered > 500);
      const { postmaster } = replica;
      const run = await restart(replica);
      const { answered } = readers;
      await until("more reads", () => readers.answered > answered + 500);
      assert.deepEqual(run.outcome, { kind: "restarted", node: replica.name }, lab.rolecall.tail);
      assert.notEqual(replica.postmaster, postmaster);
      assert.deepEqual(
        run.targets.map(({ database: name }) => name),
        [replicaDatabase, replicaDatabase],
      );
      console.log(`reads: ${readers.answered}, longest wait ${Math.round(readers.longestMs)} ms`);
      assert.deepEqual(readers.failures, []);
      assert.deepEqual(load.window.failures, []);
      assert.ok(worstWait(load.window).waitMs < Math.max(...run.targets.map(({ held_ms: ms }) => ms ?? 0)));
    } finally {
      await readers.stop();
    }
  });

  test("without PAUSE the same clients have errors", async () => {
    const leader = await lab.settled();
    load.mark();
    await until("transactions", () => load.window.acknowledged.length > 500);
    const { status } = await leader.ask("/restart", { method: "POST", body: {}, deadlineMs: 60_000 });
    assert.equal(status, 200);
    await until({ what: "transactions of all clients", seconds: 60 }, () => {
      const atMs = performance.now() - 1_000;
      const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > atMs);
      return new Set(later.map(({ client }) => client)).size === 12 ? true : undefined;
    });
    console.log(
      `without PAUSE: ${load.window.failures.length} failed, longest wait ${Math.round(worstWait(load.window).waitMs)} ms`,
    );
    assert.ok(load.window.failures.length > 0);
  });

  test("that hangs: the deadline ends the pause", async (context) => {
    const leader = await lab.settled();
    const observers = lab.poolers.map((pooler) => new PauseObserver(pooler, database));
    context.after(() => Promise.all(observers.map((observer) => observer.stop())));
    const { postmaster } = leader;
    assert.ok(postmaster !== undefined);
    let thaw = (): void => {};
    const run = await restart(leader, {
      deadline: "3s",
      onState: ({ state }) => {
        if (state === "switching") thaw = freezeMachine(postmaster);
        // Clients go on without it.
        if (state === "following") thaw();
      },
    });
    thaw();
    assert.match(run.outcome?.kind ?? "", /^(unknown|no_primary)$/, JSON.stringify(run));
    for (const { seen } of observers) {
      const at = seen.findIndex(({ paused }) => paused === true);
      const pausedMs = (seen[at + 1]?.atMs ?? Infinity) - (seen[at]?.atMs ?? 0);
      assert.ok(pausedMs > 2_500 && pausedMs < 4_000, `paused for ${pausedMs} ms`);
    }
    assert.ok(observers.every(({ paused }) => paused === false));
  });

  test("that fails: clients go on where another node takes over, or wait no longer than the deadline", async () => {
    const leader = await lab.settled();
    await lab.cluster.configure({ postgresql: { parameters: { shared_preload_libraries: "no_such_library" } } });
    await sleep(5_000);
    const run = await restart(leader, { deadline: "45s" }).finally(() =>
      lab.cluster.configure({ postgresql: { parameters: { shared_preload_libraries: null } } }),
    );
    assert.equal(run.outcome?.kind, "switched", JSON.stringify(run));
    assert.notEqual(run.outcome?.node, leader.name);
    assert.deepEqual(load.window.failures, [], lab.rolecall.tail);
  });
}

/** Clients that read through the database of the replica. */
class Readers {
  answered = 0;
  longestMs = 0;
  readonly failures: string[] = [];
  readonly #running: readonly Promise<void>[];
  #isStopped = false;

  constructor(ports: readonly number[]) {
    this.#running = ports.flatMap((port) => [this.#read(port), this.#read(port), this.#read(port)]);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  async #read(port: number): Promise<void> {
    const client = new Client({ host: "127.0.0.1", port, user: "app", database: replicaDatabase });
    client.on("error", (error) => this.failures.push(error.message));
    try {
      await client.connect();
      while (!this.#isStopped) {
        const startedMs = performance.now();
        await client.query("SELECT 1");
        this.longestMs = Math.max(this.longestMs, performance.now() - startedMs);
        this.answered += 1;
        await sleep(5);
      }
    } catch (error) {
      this.failures.push(String(error));
    } finally {
      await client.end().catch(() => {});
    }
  }
}
