/**
 * rolecall beside real clusters: each node's own answers against ours, while the cluster is changed under both.
 * A yes of ours must not outlive the node's by more than `max_age`; once things have settled, all answers agree.
 * What may differ meanwhile (design.md, rules of judgement): we refuse more (guards; evidence too old), never less for
 * longer; a node that does not answer is 503 for us; `/liveness` has a pace of its own and is compared only when
 * settled.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beside, type Command } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import { freeze, freezeBackend } from "./lab/freeze.ts";
import { Rolecall } from "./lab/rolecall.ts";
import { until } from "../fake/until.ts";
import { writeWal } from "./lab/wal.ts";
import { Stage } from "./watch/stage.ts";
import { isYes } from "./watch/timeline.ts";

const routes = JSON.parse(readFileSync(new URL("../../../test/spec/real.json", import.meta.url), "utf8")) as {
  readonly watched: readonly string[];
  readonly settled: readonly string[];
  readonly settledSince4: readonly string[];
};

beside("3.0.2", "rolecall beside real nodes", (command) => scenarios("3.0.2", command, routes.settled));
beside("4.1", "rolecall beside real nodes", (command) =>
  scenarios("4.1", command, [...routes.settled, ...routes.settledSince4]),
);

function scenarios(version: string, command: Command, settled: readonly string[]): void {
  let cluster: Cluster;
  let rolecall: Rolecall;
  let stage: Stage;

  before(async () => {
    cluster = await Cluster.start(command);
    rolecall = await Rolecall.start(cluster);
    stage = new Stage({ cluster, rolecall, title: `Patroni ${version}`, watched: routes.watched, settled });
  });
  after(async () => {
    const code = await rolecall?.stop();
    await cluster?.stop();
    if (rolecall !== undefined) assert.equal(code, 0, "rolecall ends with 0 after SIGTERM");
  });

  test("answers every route of every node as the node itself in a steady cluster", async () => {
    await stage.during("steady", () => sleep(3000));
  });

  test("refuses a replica that receives nothing for its lag until it receives again", async () => {
    const leader = await cluster.leader();
    const [replica] = await cluster.replicas();
    assert.ok(replica?.postmaster !== undefined);
    const { postmaster } = replica;
    await stage.during("writes", async () => {
      await writeWal(leader);
      const thaw = freezeBackend(postmaster, "walreceiver");
      try {
        await writeWal(leader);
        await stage.refused(replica, "/replica?lag=1MB");
      } finally {
        thaw();
      }
      await stage.changed(replica, "/replica?lag=1MB no", "/replica?lag=1MB yes");
    });
  });

  test("follows a switchover, after which the old leader is a replica", async () => {
    const old = await cluster.leader();
    const [candidate] = await cluster.replicas();
    assert.ok(candidate !== undefined);
    await stage.during("switchover", async () => {
      await cluster.switchOver(candidate);
      await stage.changed(old, "/primary no", "/replica?lag=1MB yes");
      await stage.changed(candidate, "/primary yes", "/replica?lag=1MB no");
    });
    assert.equal((await cluster.leader()).name, candidate.name);
  });

  test("follows a failover after the leader is killed, and its return as a replica", async () => {
    const old = await cluster.leader();
    const next = await stage.during("leader killed", async () => {
      await old.kill();
      const found = await cluster.leader();
      old.start();
      await stage.changed(old, "/primary no", "/health no", "/health yes", "/replica?lag=1MB yes");
      await stage.changed(found, "/primary yes");
      return found;
    });
    assert.notEqual(next.name, old.name);
  });

  test("refuses a frozen leader before the lock moves, and again when it resumes", async () => {
    const old = await cluster.leader();
    const others = await cluster.replicas();
    await stage.during("leader frozen", async () => {
      const thaw = freeze(old.pid);
      try {
        await stage.refused(old, "/primary");
        const next = await until({ what: "next leader", seconds: 60 }, async () => {
          const replies = await Promise.all(others.map((node) => node.ask("/leader")));
          return others.find((_, index) => isYes(replies[index] ?? { status: 0 }));
        });
        const explanation = await rolecall.explain(old.name, "/primary");
        assert.deepEqual(
          [explanation.reason, explanation.decisive],
          ["down", "reachable"],
          "why the frozen leader is refused",
        );
        assert.equal((await rolecall.verdicts(old.name)).at(-1)?.after.primary, "down");
        await stage.changed(next, "/primary yes");
      } finally {
        thaw();
      }
      // Who leads in the end is the cluster's affair: the old leader's PostgreSQL was never stopped, and may win the
      // lock again.
      await stage.changed(old, "/primary no", "/health no", "/health yes");
    });
  });

  test("refuses a frozen replica once its evidence is too old, until it resumes", async () => {
    const [replica] = await cluster.replicas();
    assert.ok(replica !== undefined);
    await stage.during("replica frozen", async () => {
      const thaw = freeze(replica.pid);
      try {
        await stage.refused(replica, "/health");
        await sleep(2000);
      } finally {
        thaw();
      }
      await stage.changed(replica, "/health no", "/health yes");
    });
  });

  test("answers during a pause and refuses a stopped PostgreSQL until the pause ends", async () => {
    const leader = await cluster.leader();
    const [replica] = await cluster.replicas();
    assert.ok(replica?.postmaster !== undefined);
    const { postmaster } = replica;
    await stage.during("pause", async () => {
      await pause(true);
      process.kill(postmaster, "SIGINT"); // PostgreSQL's fast shutdown
      await stage.refused(replica, "/health");
      assert.equal((await leader.ask("/primary")).status, 200);
      await pause(false);
      await stage.changed(replica, "/health no", "/health yes");
    });
  });

  test("finds no leader without the DCS and one when it returns", async () => {
    const leader = await cluster.leader();
    await stage.during("DCS down", async () => {
      await cluster.etcd.kill();
      await stage.refused(leader, "/primary");
      await sleep(3000);
      const explanation = await rolecall.explain(leader.name, "/primary");
      assert.deepEqual(
        [explanation.reason, explanation.decisive],
        ["demoted", "lock"],
        "why nobody is primary without the DCS",
      );
      await stage.changed(leader, "/primary no");
      await cluster.etcd.start();
    });
  });

  async function pause(paused: boolean): Promise<void> {
    await cluster.configure({ pause: paused });
    await until({ what: `pause ${paused} on every node`, seconds: 15 }, async () => {
      const documents = await Promise.all(cluster.nodes.map((node) => node.ask("/patroni")));
      return documents.every(({ body: text }) => text.includes('"pause": true') === paused) ? true : undefined;
    });
  }
}
