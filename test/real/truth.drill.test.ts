/**
 * What no single node can see, shown by real ones: each incident is made to happen, the node's own answer is taken
 * beside ours, and rolecall must explain why. A frozen Patroni, and life without the DCS: follow.test.ts.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "./lab/ask.ts";
import { beside } from "./lab/beside.ts";
import { freezeBackend, freezeMachine } from "./lab/freeze.ts";
import type { PatroniNode } from "./lab/patroni.ts";
import { psql } from "./lab/psql.ts";
import { until } from "../fake/until.ts";
import { writeWal } from "./lab/wal.ts";
import { assertTold, incidentLab, refusedFor, since, type IncidentLab } from "./watch/incident.ts";
import { isYes } from "./watch/timeline.ts";

beside("3.0.2", "the truth about a cluster", (command) => {
  const lab = incidentLab(command, "3.0.2");
  replicas(lab);
  leaders(lab);
});
beside("4.1", "the truth about a cluster", (command) => replicas(incidentLab(command, "4.1")));

function replicas(lab: () => IncidentLab): void {
  test("refuses a replica with a hanging receiver as detached while the node still answers 200", async () => {
    const { cluster, rolecall, stage } = lab();
    const leader = await cluster.leader();
    const [replica, sibling] = await cluster.replicas();
    assert.ok(replica?.postmaster !== undefined && sibling !== undefined);
    const { postmaster } = replica;
    await stage.during("receiver frozen until the primary drops it", async () => {
      const thaw = freezeBackend(postmaster, "walreceiver");
      const frozenAtMs = performance.now();
      try {
        const writing = writeWal(leader);
        const dropped = await until({ what: "end of the sender", seconds: 20 }, () =>
          droppedBy(leader, replica, frozenAtMs),
        );
        await writing;
        const refused = await refusedFor({ lab: lab(), node: replica, check: "/replica" }, "detached");
        const [own, siblings] = await Promise.all([replica.ask("/replica"), rolecall.ask(sibling.name, "/replica")]);
        assert.equal(own.status, 200, "the node's own answer");
        assert.equal(refused.status, 503);
        assert.equal(siblings.status, 200, "ours about its sibling");
        say(`receiver frozen: dropped by the primary after ${dropped}, detached after ${since(frozenAtMs)}`);
        await assertTold({ lab: lab(), node: replica, check: "/replica" }, ["detached", "stream"]);
        assert.equal((await rolecall.verdicts(replica.name)).at(-1)?.after.replica, "detached");
      } finally {
        thaw();
      }
      const thawedAtMs = performance.now();
      await until({ what: `yes to ${replica.name}`, seconds: 20, evidence: () => rolecall.tail }, async () =>
        isYes(await rolecall.ask(replica.name, "/replica?lag=1MB")) ? true : undefined,
      );
      say(`receiver thawed: fit after ${since(thawedAtMs)}`);
    });
    assert.equal((await rolecall.verdicts(replica.name)).at(-1)?.after.replica, "fit");
  });

  test("refuses a replica that stops replaying only for its lag, in bytes and in time", async () => {
    const { cluster, rolecall, stage } = lab();
    const leader = await cluster.leader();
    const [replica, sibling] = await cluster.replicas();
    assert.ok(replica?.postmaster !== undefined && sibling !== undefined);
    const { postmaster } = replica;
    await stage.during("replay frozen", async () => {
      const thaw = freezeBackend(postmaster, "startup");
      const frozenAtMs = performance.now();
      try {
        await writeWal(leader);
        await refusedFor({ lab: lab(), node: replica, check: "/replica?lag=1MB" }, "lagging");
        const byBytes = since(frozenAtMs);
        await refusedFor({ lab: lab(), node: replica, check: "/replica?lag_time=5s" }, "lagging");
        say(`replay frozen: refused for lag=1MB after ${byBytes}, for lag_time=5s after ${since(frozenAtMs)}`);
        await assertTold({ lab: lab(), node: replica, check: "/replica?lag=1MB" }, ["lagging", "lag"]);
        await assertTold({ lab: lab(), node: replica, check: "/replica?lag_time=5s" }, ["lagging", "lag"]);
        assert.equal(
          (await rolecall.ask(replica.name, "/replica")).status,
          200,
          "without a limit it is fit: it still receives",
        );
        assert.equal(
          (await rolecall.ask(replica.name, "/replica?lag=1MB&miss=404")).status,
          404,
          "a soft no where one was asked for",
        );
        assert.equal(
          (await rolecall.ask(sibling.name, "/replica?lag=1MB&lag_time=5s")).status,
          200,
          "ours about its sibling",
        );
      } finally {
        thaw();
      }
      await until({ what: `yes to ${replica.name}`, seconds: 20, evidence: () => rolecall.tail }, async () =>
        isYes(await rolecall.ask(replica.name, "/replica?lag=1MB&lag_time=5s")) ? true : undefined,
      );
    });
  });
}

function leaders(lab: () => IncidentLab): void {
  test(
    "frozen for 20 s across a switchover, rolecall never answers from evidence before it",
    { timeout: 90_000 },
    async () => {
      const { cluster, rolecall } = lab();
      const old = await cluster.leader();
      const [next] = await cluster.replicas();
      assert.ok(next !== undefined);
      const thaw = rolecall.freeze();
      const frozenAtMs = performance.now();
      const requests: { readonly node: string; readonly reply: Promise<Reply> }[] = [];
      const ask = (): void => {
        for (const { name } of cluster.nodes)
          requests.push({ node: name, reply: rolecall.ask(name, "/primary", 40_000) });
      };
      let thawedAtMs: number;
      try {
        const switching = cluster.switchOver(next);
        for (; performance.now() - frozenAtMs < 20_000; await sleep(500)) ask();
        await switching;
      } finally {
        thaw();
        thawedAtMs = performance.now();
      }
      await until({ what: `yes to ${next.name}`, seconds: 15, evidence: () => rolecall.tail }, async () => {
        ask();
        return isYes(await rolecall.ask(next.name, "/primary")) ? true : undefined;
      });
      const regained = since(thawedAtMs);
      const answers = await Promise.all(requests.map(async ({ node, reply }) => ({ node, ...(await reply) })));
      const counts = new Map<string, number>();
      for (const { node, status, reason } of answers) {
        const key =
          `${node === old.name ? "old leader" : node === next.name ? "new leader" : "replica"} ${status} ${reason}`.trim();
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      say(
        `rolecall frozen: right again ${regained} after the thaw; ${[...counts].map(([key, count]) => `${key} x ${count}`).join(", ")}`,
      );
      const wrong = answers.filter((answer) => answer.node !== next.name && isYes(answer)).map(({ node }) => node);
      assert.deepEqual(wrong, [], "a yes to a node that leads no more");
      const odd = answers
        .filter(({ status }) => ![200, 500, 503].includes(status))
        .map(({ node, status }) => `${node} ${status}`);
      assert.deepEqual(odd, [], "silence, or neither yes nor no");
      await assertTold({ lab: lab(), node: old, check: "/primary" }, ["demoted", "lock"]);
      await cluster.whole();
    },
  );

  test("a leader that hangs past ttl is unfit before another leads, and there are never two when it resumes", async () => {
    const { cluster, rolecall, stage } = lab();
    const old = await cluster.leader();
    assert.ok(old.postmaster !== undefined);
    const { pid, postmaster } = old;
    await stage.during("machine of the leader frozen", async () => {
      const thaw = freezeMachine(postmaster, pid);
      try {
        await refusedFor({ lab: lab(), node: old, check: "/primary" }, "down");
        const next = await nextLeader(lab(), old);
        await assertTold({ lab: lab(), node: old, check: "/primary" }, ["down", "reachable"]);
        await stage.changed(next, "/primary yes");
      } finally {
        thaw();
      }
      await stage.changed(old, "/primary no", "/health no", "/health yes");
    });
    assert.ok((await rolecall.verdicts(old.name)).some(({ after }) => after.primary === "down"));
  });

  test("a writable PostgreSQL without its Patroni is no primary, before and after another leads", async () => {
    const { cluster, stage } = lab();
    const old = await cluster.leader();
    const next = await stage.during("Patroni killed, PostgreSQL lives", async () => {
      await old.killPatroni();
      const killedAtMs = performance.now();
      await refusedFor({ lab: lab(), node: old, check: "/primary" }, "down");
      say(`Patroni killed: down after ${since(killedAtMs)}`);
      const found = await nextLeader(lab(), old);
      assert.equal(
        await psql(old.databasePort, "create table written_by_nobody (); select pg_is_in_recovery()"),
        "f",
        "it takes writes",
      );
      await assertTold({ lab: lab(), node: old, check: "/primary" }, ["down", "reachable"]);
      old.start();
      await stage.changed(old, "/primary no", "/health no", "/health yes", "/replica?lag=1MB yes");
      return found;
    });
    assert.notEqual(next.name, old.name);
  });
}

/** Waits (60 s) until another node answers that it leads, and rolecall agrees. */
async function nextLeader({ cluster, rolecall }: IncidentLab, old: PatroniNode): Promise<PatroniNode> {
  const others = cluster.nodes.filter((node) => node !== old);
  const found = await until({ what: "next leader", seconds: 60 }, async () => {
    const replies = await Promise.all(others.map((node) => node.ask("/leader")));
    return others.find((_, index) => isYes(replies[index] ?? { status: 0 }));
  });
  await until({ what: `yes to ${found.name}`, seconds: 10, evidence: () => rolecall.tail }, async () =>
    isYes(await rolecall.ask(found.name, "/primary")) ? true : undefined,
  );
  return found;
}

/** How long after `fromMs` the primary has no sender for the replica any more; undefined while it has. */
async function droppedBy(leader: PatroniNode, { name }: PatroniNode, fromMs: number): Promise<string | undefined> {
  const senders = await psql(
    leader.databasePort,
    `select count(*) from pg_stat_replication where application_name = '${name}'`,
  );
  return senders === "0" ? since(fromMs) : undefined;
}

function say(text: string): void {
  console.log(text);
}
