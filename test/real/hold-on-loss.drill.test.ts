/**
 * Losses of the primary that nobody announces, behind two PgBouncers whose clients rolecall holds (`hold_on_loss`): a
 * backend that crashes, PostgreSQL that dies alone, and the whole node.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Lab } from "../../proof/switchovers/lab.ts";
import type { Load } from "../../proof/switchovers/load.ts";
import { until } from "../fake/until.ts";
import { beside } from "./lab/beside.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { pgbouncer124 } from "./lab/pgbouncer.ts";
import { childrenOf } from "./lab/processes.ts";
import { signal } from "./lab/reaper.ts";

const clients = 12;

const { title: version, found } = pgbouncer124();
if ("notRun" in found) test(`a loss behind ${version}`, { skip: `not run: ${found.notRun}` }, () => {});
else beside("3.0.2", `a loss behind ${version}`, (command) => scenarios(command, found.path), 8);

function scenarios(patroni: readonly [string, ...string[]], pgbouncer: string): void {
  let lab: Lab;
  let load: Load;
  before(async () => {
    lab = await Lab.start({ patroni, pgbouncer, route: "file", pooler: { hold_on_loss: "45s" } });
    load = lab.load(clients);
  });
  after(async () => {
    await load?.stop();
    await lab?.stop();
  });

  /** Plays a loss, or several in a row, and waits until all clients write again. */
  const lose = async (what: string, loss: (leader: PatroniNode) => Promise<void>, losses = 1): Promise<void> => {
    const leader = await lab.settled();
    load.mark();
    // Long enough for the next guardian process to be ready, which is started 2 s after one was taken.
    await until("transactions before the loss", () => load.window.acknowledged.length > 1_500);
    const lostAtMs = performance.now();
    await loss(leader);
    await until(
      { what: "transactions of all clients after the loss", seconds: 90, evidence: () => lab.rolecall.tail },
      () => {
        const later = load.window.acknowledged.filter(({ startedMs }) => startedMs > lostAtMs + 500);
        return new Set(later.map(({ client }) => client)).size === clients ? true : undefined;
      },
    );
    const { failures, acknowledged } = load.window;
    const longest = Math.max(...acknowledged.map(({ startedMs, endedMs }) => endedMs - startedMs));
    console.log(`${what}: ${failures.length} failed of ${acknowledged.length}, longest wait ${Math.round(longest)} ms`);
    console.log([...new Set(failures.map(({ error, waitMs }) => `${Math.round(waitMs)} ms ${error}`))].join("\n"));
    console.log(
      lab.rolecall.log
        .split("\n")
        .filter((line) => /"step"|hold_/.test(line))
        .slice(-14)
        .join("\n"),
    );
    assert.ok(failures.length <= losses * 2 * clients, lab.rolecall.log);
  };

  /** PostgreSQL ends all sessions, and recovers, when one of its processes dies. */
  const killBackend = ({ postmaster }: PatroniNode): void => {
    assert.ok(postmaster !== undefined);
    const backend = childrenOf(postmaster).find(({ title }) => title.includes("127.0.0.1"));
    assert.ok(backend !== undefined);
    signal(backend.pid, "SIGKILL");
  };

  test("of one backend: clients wait until PostgreSQL has recovered", async () => {
    await lose("one backend killed", async (leader) => killBackend(leader));
  });

  test("of one backend twice: what the primary said in between does not end the second hold", async () => {
    const twice = async (leader: PatroniNode): Promise<void> => {
      killBackend(leader);
      const killedAtMs = performance.now();
      await until("transactions between two losses", () =>
        load.window.acknowledged.some(({ startedMs }) => startedMs > killedAtMs + 100),
      );
      killBackend(leader);
    };
    await lose("one backend killed twice", twice, 2);
  });

  test("of PostgreSQL alone: clients wait until it or another node leads", async () => {
    await lose("postgres killed", async (leader) => {
      const { postmaster } = leader;
      assert.ok(postmaster !== undefined);
      const all = [postmaster, ...childrenOf(postmaster).map(({ pid }) => pid)];
      for (const pid of all) signal(pid, "SIGKILL");
    });
  });

  test("of the node: clients wait for the new primary", async () => {
    let lost: PatroniNode | undefined;
    await lose("patroni and postgres killed", async (leader) => {
      lost = leader;
      await leader.kill();
    });
    lost?.start();
  });
}
