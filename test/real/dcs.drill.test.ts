/**
 * The watch of the DCS beside a real Patroni and a real etcd 3.4: what the leader key shows before and after the nodes
 * do, and what its faults must not do. Durations are printed, not asserted.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { beside, type Command } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import { compact, deleteLeaderKey, LeaderKey } from "./lab/dcs-keys.ts";
import { freeze } from "./lab/freeze.ts";
import { ports } from "./lab/ports.ts";
import { psql } from "./lab/psql.ts";
import { Rolecall } from "./lab/rolecall.ts";
import { Refusals } from "./watch/refusals.ts";

/** How often a node's answer is requested around a change, in ms. */
const everyMs = 5;

/** A cluster in `GET /status`. */
interface Status {
  readonly paused: boolean;
  readonly situation: { readonly wrong: string | null; readonly cause: string | null };
}

for (const version of ["4.1", "3.0.2"] as const)
  beside(version, "the watch of the DCS", (command) => scenarios(command, version), 5);

/** With 3.0.2 only a switchover is tried: there a deleted key is taken again before anyone could notice. */
function scenarios(command: Command, version: "3.0.2" | "4.1"): void {
  const skip = version === "4.1" ? false : "tried with 4.1";
  let cluster: Cluster;
  let rolecall: Rolecall;
  let key: LeaderKey;
  before(async () => {
    cluster = await Cluster.start(command);
    rolecall = await Rolecall.start(cluster, {
      cluster: { dcs: { etcd: [`http://127.0.0.1:${ports.etcdClient}`] } },
    });
    await until({ what: "a watched DCS", seconds: 10 }, async () => (await metric("rolecall_dcs_up")) === 1);
    key = new LeaderKey();
  });
  after(async () => {
    await key?.stop();
    await rolecall?.stop();
    await cluster?.stop();
  });

  test(
    "renewals of the lock raise no events, and nothing is probed in a burst while nothing changes",
    { skip },
    async () => {
      const bursts = await metric("rolecall_burst_probes_total");
      await sleep(6_500); // more than three loops of Patroni
      assert.deepEqual(key.events, []);
      assert.equal(await metric("rolecall_burst_probes_total"), bursts);
      assert.equal(await metric("rolecall_dcs_withdrawals_total"), 0);
    },
  );

  test("a switchover after a compaction: the yes moves with the key", async () => {
    await compact();
    const old = await cluster.leader();
    const [next] = await cluster.replicas();
    assert.ok(next !== undefined);
    const from = key.events.length;
    const [refused, granted, promoted] = [
      since(() => primary(old.name, false)),
      since(() => primary(next.name, true)),
      since(async () => (await psql(next.databasePort, "select pg_is_in_recovery()", 500)) === "f"),
    ];
    await cluster.switchOver(next);
    const [refusedMs, grantedMs, promotedMs] = await Promise.all([refused, granted, promoted]);
    const events = key.events.slice(from);
    const taken = events.find(({ names }) => names === next.name);
    const left = events.find(({ names }) => names !== old.name);
    assert.ok(taken !== undefined && left !== undefined, JSON.stringify(events));
    console.log(
      `${version}: switchover: key left -> yes gone ${(refusedMs - left.atMs).toFixed(0)} ms ` +
        `(negative: a probe was first), ` +
        `key taken -> promoted ${(promotedMs - taken.atMs).toFixed(0)} ms, ` +
        `promoted -> yes ${(grantedMs - promotedMs).toFixed(0)} ms`,
    );
    assert.ok(grantedMs > taken.atMs, "a yes before the key was taken");
    assert.ok((await metric("rolecall_dcs_withdrawals_total")) > 0, "the DCS withdrew the yes of the old leader");
    await cluster.whole();
  });

  test(
    "a key that is deleted and taken again by the same holder: the yes is withdrawn and comes back",
    { skip },
    async () => {
      const leader = await cluster.leader();
      const from = key.events.length;
      const refused = since(() => primary(leader.name, false));
      await deleteLeaderKey();
      const refusedMs = await refused;
      const gone = key.events[from];
      assert.equal(gone?.names, null);
      console.log(
        `${version}: key deleted -> yes withdrawn ${(refusedMs - (gone?.atMs ?? 0)).toFixed(0)} ms after the event`,
      );
      await since(() => primary(leader.name, true));
      await cluster.whole();
    },
  );

  test("in pause a key that is deleted withdraws nothing", { skip }, async () => {
    await cluster.configure({ pause: true });
    const leader = await cluster.leader();
    // What counts is the leader's own word; another node may report the pause sooner.
    await until("a leader that reports the pause", async () =>
      /"pause": ?true/.test((await rolecall.ask(leader.name, "/health")).body),
    );
    const refusals = new Refusals({ rolecall, node: leader.name, checks: ["/primary"] });
    const from = key.events.length;
    await deleteLeaderKey();
    await until("the deletion", () => key.events.length > from);
    await sleep(1_000);
    await refusals.stop();
    await cluster.configure({ pause: null });
    await until("the end of the pause", async () => !(await status()).paused);
    // The node itself may say for a moment that it holds no lock (`demoted`).
    assert.deepEqual(
      refusals.found.filter(({ reason }) => reason === "superseded"),
      [],
    );
    await cluster.whole();
  });

  test(
    "an etcd that is frozen: no node reaches it, as the nodes themselves say, until it thaws",
    { skip },
    async () => {
      const thaw = cluster.etcd.freeze();
      try {
        await until(
          { what: "the event dcs_unreachable", seconds: 20 },
          async () => (await kinds())[0] === "dcs_unreachable",
        );
        const { wrong, cause } = (await status()).situation;
        assert.match(`${wrong}: ${cause}`, /^(no node reaches the DCS: |no primary: no node has reached the DCS for )/);
      } finally {
        thaw();
      }
      await until(
        { what: "the event dcs_reachable", seconds: 20 },
        async () => (await kinds()).at(-1) === "dcs_reachable",
      );
      await cluster.whole();
      assert.deepEqual(await kinds(), ["dcs_unreachable", "dcs_reachable"]);
    },
  );

  test("an etcd that is frozen or killed under a cluster in failsafe mode withdraws nothing", { skip }, async () => {
    await cluster.configure({ failsafe_mode: true });
    await sleep(5_000); // the key failsafe is written within two loops
    const leader = await cluster.leader();
    const withdrawn = await metric("rolecall_dcs_withdrawals_total");
    const refusals = new Refusals({ rolecall, node: leader.name, checks: ["/primary"] });
    const thaw = cluster.etcd.freeze();
    await until({ what: "a lost DCS", seconds: 10 }, async () => (await metric("rolecall_dcs_up")) === 0);
    thaw();
    await until({ what: "a watched DCS", seconds: 15 }, async () => (await metric("rolecall_dcs_up")) === 1);
    await cluster.etcd.kill();
    await until({ what: "a lost DCS", seconds: 10 }, async () => (await metric("rolecall_dcs_up")) === 0);
    await cluster.etcd.start();
    await until({ what: "a watched DCS", seconds: 15 }, async () => (await metric("rolecall_dcs_up")) === 1);
    await refusals.stop();
    assert.equal(await metric("rolecall_dcs_withdrawals_total"), withdrawn);
    assert.deepEqual(refusals.found, []);
    await cluster.whole();
  });

  test(
    "a lock that expires under a frozen Patroni: no yes for the old leader once another holds the key",
    { skip },
    async () => {
      await key.stop();
      key = new LeaderKey();
      const old = await cluster.leader();
      const thaw = freeze(old.pid);
      try {
        const next = await until({ what: "another leader in the key", seconds: 60 }, () =>
          key.events.findLast(({ names }) => names !== null && names !== old.name),
        );
        await since(() => primary(next.names ?? "", true));
        thaw();
        let granted = 0;
        for (let round = 0; round < 300; round += 1) {
          if (await primary(old.name, true)) granted += 1;
          await sleep(everyMs);
        }
        assert.equal(granted, 0);
      } finally {
        thaw();
      }
    },
  );

  /** Waits until something holds. @returns when, in ms of the monotonic clock */
  async function since(holds: () => Promise<boolean>): Promise<number> {
    return until({ what: "a change of an answer", seconds: 60 }, async () =>
      (await holds()) ? performance.now() : undefined,
    );
  }

  async function primary(node: string, isFit: boolean): Promise<boolean> {
    const reply = await rolecall.ask(node, "/primary");
    return reply.status !== 0 && (reply.status === 200) === isFit;
  }

  /** The value of a metric of the cluster; 0 while it has none. */
  async function metric(name: string): Promise<number> {
    const { body } = await ask({ port: ports.rolecallAdmin, path: "/metrics" });
    const line = body.split("\n").find((one) => one.startsWith(`${name}{`));
    return Number(line?.split(" ").at(-1) ?? 0);
  }

  async function status(): Promise<Status> {
    const { body } = await ask({ port: ports.rolecallAdmin, path: "/status" });
    const { clusters } = JSON.parse(body) as { readonly clusters: readonly Status[] };
    const [only] = clusters;
    assert.ok(only !== undefined, body);
    return only;
  }

  /** The events on whether the nodes reach the DCS, oldest first. */
  async function kinds(): Promise<readonly string[]> {
    const path = "/events?kind=dcs_unreachable,dcs_reachable";
    const { body } = await ask({ port: ports.rolecallAdmin, path });
    const { events } = JSON.parse(body) as { readonly events: readonly { readonly kind: string }[] };
    return events.map(({ kind }) => kind);
  }
}
