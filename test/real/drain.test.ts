/**
 * The example configuration of HAProxy, run with real servers: who is drained, who is cut, and who decides when
 * rolecall is gone.
 */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beside } from "./lab/beside.ts";
import { balancedLab, settledAs } from "./lab/balanced.ts";
import { freezeBackend } from "./lab/freeze.ts";
import type { Server } from "./lab/haproxy.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { ports } from "./lab/ports.ts";
import { psql } from "./lab/psql.ts";
import { Session } from "./lab/session.ts";
import { until } from "../fake/until.ts";
import { writeWal } from "./lab/wal.ts";

const whereAmI = "select inet_server_port()";

beside("3.0.2", "HAProxy as config/examples/haproxy.cfg has it", (command) => {
  const lab = balancedLab(command);

  test("a lagging replica gets no new session and keeps its open ones", async (context) => {
    const { cluster, haproxy, rolecall } = lab();
    const leader = await cluster.leader();
    const [replica, sibling] = await cluster.replicas();
    assert.ok(replica?.postmaster !== undefined && sibling !== undefined);
    const session = await sessionOn(context, ports.haproxyRead, replica);
    const thaw = freezeBackend(replica.postmaster, "startup");
    try {
      for (let times = 0; times < 3; times++) await writeWal(leader); // past the 10 MB of the example
      const drained = await settledAs(haproxy, `read/${replica.name}`, "NOLB");
      assert.equal(drained.code, 404);
      const explanation = await rolecall.explain(replica.name, "/replica?lag=10MB&miss=404");
      assert.deepEqual([explanation.reason, explanation.decisive], ["lagging", "lag"]);
      assert.deepEqual(await landings(ports.haproxyRead, 10), [sibling.databasePort], "where new sessions go");
      assert.equal(await session.ask(whereAmI), String(replica.databasePort), "the open session");
    } finally {
      thaw();
    }
    await settledAs(haproxy, `read/${replica.name}`, "UP");
    assert.equal(await session.ask(whereAmI), String(replica.databasePort), "the open session, after the drain");
  });

  test("a server with the address of another node is unfit with the reason moved", async () => {
    const { cluster, haproxy, rolecall } = lab();
    const [pg1, pg2] = cluster.nodes;
    const server = await settledAs(haproxy, `moved/${pg1.name}`, "DOWN");
    assert.equal(server.code, 503);
    assert.match(server.lastCheck, /moved/);
    const explanation = await rolecall.explain(pg1.name, `/health?db=127.0.0.1:${pg2.databasePort}`);
    assert.deepEqual([explanation.reason, explanation.decisive], ["moved", "database address"]);
    await settledAs(haproxy, `moved/${pg2.name}`, "UP");
  });

  test("the sessions of a primary whose Patroni died are closed, also in a pool with soft answers", async (context) => {
    const { cluster, haproxy } = lab();
    const leader = await cluster.leader();
    const sessions = [
      await sessionOn(context, ports.haproxyWrite, leader),
      await sessionOn(context, ports.haproxySoft, leader),
    ];
    const direct = await sessionOn(context, leader.databasePort, leader);
    await leader.killPatroni();
    try {
      const down = await settledAs(haproxy, `soft/${leader.name}`, "DOWN");
      assert.equal(down.code, 503);
      await settledAs(haproxy, `write/${leader.name}`, "DOWN"); // each pool has checks of its own, half a second apart
      for (const session of sessions) assert.equal(await session.ask(whereAmI), undefined, "a session through HAProxy");
      assert.equal(await direct.ask(whereAmI), String(leader.databasePort), "the database itself lives");
    } finally {
      leader.start();
    }
    await cluster.whole();
    await settledAs(haproxy, `write/${(await cluster.leader()).name}`, "UP");
  });

  test("a demoted primary gets a hard no where other replicas get a soft one", async (context) => {
    const { cluster, haproxy } = lab();
    const old = await cluster.leader();
    const [next, other] = await cluster.replicas();
    assert.ok(next !== undefined && other !== undefined);
    const replica = await haproxy.server(`soft/${other.name}`);
    assert.deepEqual([replica.status, replica.code], ["NOLB", 404], "a replica in a pool of primaries that softens");
    const session = await sessionOn(context, ports.haproxySoft, old);
    const seen: Server[] = [];
    const watch = new AbortController();
    const watching = (async () => {
      for (; !watch.signal.aborted; await sleep(50)) seen.push(await haproxy.server(`soft/${old.name}`));
    })();
    try {
      await cluster.switchOver(next);
      await settledAs(haproxy, `soft/${next.name}`, "UP");
      await settledAs(haproxy, `write/${next.name}`, "UP");
      await cluster.whole();
    } finally {
      watch.abort();
      await watching;
    }
    say(
      `switchover, the old primary in the soft pool: ${rows(seen.map((server) => `${server.status} ${server.code}`))}`,
    );
    const soft = seen
      .filter((server) => server.status === "NOLB" || server.code === 404)
      .map(({ lastCheck }) => lastCheck);
    assert.deepEqual(soft, [], "the old primary was softened");
    assert.equal(seen.at(-1)?.status, "DOWN");
    // A check that HAProxy itself gave up on a busy machine has no code.
    const last = seen.findLast(({ code }) => code !== 0);
    assert.deepEqual([last?.status, last?.code], ["DOWN", 503]);
    assert.match(last?.lastCheck ?? "", /demoted/);
    assert.equal(await session.ask(whereAmI), undefined, "its session");
  });

  test("loses no session when one rolecall hangs or dies, nor when HAProxy falls back to the nodes", async (context) => {
    const { cluster, haproxy, rolecall, second } = lab();
    const leader = await cluster.leader();
    const session = await sessionOn(context, ports.haproxyWrite, leader);
    const seen: string[] = [];
    const watch = async (seconds: number): Promise<void> => {
      for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(50))
        seen.push((await haproxy.server(`write/${leader.name}`)).status);
    };
    const thaw = rolecall.freeze();
    await watch(2).finally(thaw);
    await settledAs(haproxy, "rolecall/rolecall1", "UP");
    await rolecall.kill();
    await watch(2);
    assert.deepEqual(
      [...new Set(seen)],
      ["UP"],
      "the leader in the write pool while the first instance hangs, and when it is gone",
    );
    await second.stop();
    await settledAs(haproxy, `write/${leader.name}`, "NOLB");
    assert.deepEqual(
      await landings(ports.haproxyWrite, 3),
      [leader.databasePort],
      "new writes, by the nodes' own word",
    );
    const replicas = (await cluster.replicas()).map(({ databasePort }) => databasePort);
    assert.deepEqual(await landings(ports.haproxyRead, 6), sorted(replicas), "new reads, by the nodes' own word");
    assert.equal(await session.ask(whereAmI), String(leader.databasePort), "the open session");
    await lab().again();
    await settledAs(haproxy, `write/${leader.name}`, "UP");
    assert.equal(await session.ask(whereAmI), String(leader.databasePort), "the open session, when rolecall is back");
  });
});

/** Opens sessions through a port until one is on the node. It is closed when the test ends; the others at once. */
async function sessionOn(context: TestContext, port: number, { name, databasePort }: PatroniNode): Promise<Session> {
  const found = await until({ what: `session on ${name} through port ${port}`, seconds: 10 }, async () => {
    const session = new Session(port);
    if ((await session.ask(whereAmI)) === String(databasePort)) return session;
    await session.close();
    return undefined;
  });
  context.after(() => found.close());
  return found;
}

/** The ports of the databases that `count` new connections reached, sorted. */
async function landings(port: number, times: number): Promise<readonly number[]> {
  const landed = new Set<number>();
  for (let time = 0; time < times; time++) landed.add(Number(await psql(port, whereAmI)));
  return sorted([...landed]);
}

function sorted(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((one, other) => one - other);
}

/** Equal ones in a row together. */
function rows(words: readonly string[]): string {
  const runs: { readonly word: string; times: number }[] = [];
  for (const word of words) {
    const last = runs.at(-1);
    if (last?.word === word) last.times += 1;
    else runs.push({ word, times: 1 });
  }
  return runs.map(({ word, times }) => `${word} x ${times}`).join(", ");
}

function say(text: string): void {
  console.log(text);
}
