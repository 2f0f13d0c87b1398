/** Edges of a fleet on a real etcd: what their nodes are asked, and what they answer while edges and etcd fail. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type JsonObject, listOf } from "../../src/core/cluster/values/json.ts";
import { EtcdFleetStore } from "../../src/features/fleet/etcd/etcd-fleet-store.ts";
import { setSystemTimer } from "../../src/core/probe/schedule/system-timer.ts";
import { sendRequest } from "../fake/http-request.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { EtcdMembers } from "./lab/etcd-members.ts";
import { type FleetEdge, FleetEdges } from "./lab/fleet-edges.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();
const limit = { timeout: 240_000 };

/** Drains a node of every cluster at an edge, or ends that, and waits for what edges answer. */
function drainsOf({ clusters }: FleetEdges): {
  readonly wait: (edges: readonly FleetEdge[], wanted: number) => Promise<void>;
  readonly call: (edge: FleetEdge, method: string, body: object) => Promise<void>;
} {
  return {
    wait: async (edges, wanted) => {
      for (const { url } of edges)
        for (const { name } of clusters)
          await until(`${wanted} of ${name} at ${url}`, async () => {
            const { status } = await sendRequest(`${url}/clusters/${name}/nodes/pg3/replica`);
            return status === wanted;
          });
    },
    call: async ({ admin }, method, body) => {
      for (const { name } of clusters) {
        const headers = { "Content-Type": "application/json" };
        const reply = await sendRequest(`${admin}/drains/${name}/pg3`, { method, headers, body: JSON.stringify(body) });
        assert.equal(reply.status, 200, reply.body);
      }
    },
  };
}

/** The store of a member that has joined. */
async function joinedStore(context: TestContext, urls: readonly string[], name: string): Promise<EtcdFleetStore> {
  const store = new EtcdFleetStore(
    { urls, folder: "/rolecall/claims/", leaseMs: 5_000 },
    { access: () => ({ tls: {}, auth: null }), setTimer: setSystemTimer, random: Math.random },
  );
  context.after(() => store.stop());
  await new Promise<void>((resolve) => {
    const onPhase = ({ kind }: { readonly kind: string }): void => void (kind === "joined" && resolve());
    store.start({ key: `members/${name}`, value: () => name }, { onAll: () => {}, onChange: () => {}, onPhase });
  });
  return store;
}

describe("a fleet of edges", { skip: missing === undefined ? false : `not run: ${missing} is missing` }, () => {
  test("asks each node once an interval, whatever edge is killed or stands still", limit, async (context) => {
    const etcd = await EtcdMembers.start({ count: 1 });
    context.after(() => etcd.stop());
    const fleet = await FleetEdges.open(context, etcd.urls, { count: 20 });
    for (let at = 0; at < 4; at += 1) await fleet.start();
    await fleet.settle("at the start");
    const [first, second, ...left] = fleet.edges;
    assert.ok(first !== undefined && second !== undefined);

    const afterKill = fleet.watch([second, ...left]);
    first.process.process.kill("SIGKILL");
    await sleep(7_000);
    assert.deepEqual(await afterKill.end(), [], "an edge was killed");
    await fleet.settle("after an edge was killed");

    const whileFrozen = fleet.watch(left);
    second.process.process.kill("SIGSTOP");
    await sleep(8_000);
    second.process.process.kill("SIGCONT");
    await fleet.settle("after an edge stood still");
    assert.deepEqual(await whileFrozen.end(), [], "an edge stood still");
    const afterwards = fleet.watch([second, ...left]);
    await sleep(1_000);
    assert.deepEqual(await afterwards.end(), []);
  });

  test(
    "gives the run of a cluster to one member, until that gives it back or its lease ends",
    limit,
    async (context) => {
      const etcd = await EtcdMembers.start({ count: 1 });
      context.after(() => etcd.stop());
      const [one, two] = await Promise.all(["e1", "e2"].map((name) => joinedStore(context, etcd.urls, name)));
      assert.ok(one !== undefined && two !== undefined);
      const key = "runs/orders";
      const asked = await Promise.all([one.claimFor(key, "of e1", 2), two.claimFor(key, "of e2", 2)]);
      const [winner] = new Set(asked.map(({ value }) => value));
      assert.equal(new Set(asked.map(({ value }) => value)).size, 1, JSON.stringify(asked));
      assert.ok(winner === "of e1" || winner === "of e2");
      const revision = asked[0]?.revision ?? 0;
      assert.deepEqual(await one.claimFor(key, "of e1, again", 2), { value: winner, revision });
      const loser = winner === "of e1" ? "of e2" : "of e1";
      assert.equal(await two.release(key, loser), false, "only who holds it gives it back");
      assert.equal(await two.release(key, winner), true);
      const next = await two.claimFor(key, "next", 2);
      assert.deepEqual([next.value, next.revision > revision], ["next", true]);
      await until("the end of a lease that nobody renews", async () => {
        const { value } = await one.claimFor(key, "after the lease", 60);
        return value === "after the lease";
      });
    },
  );

  test("changes nothing while etcd is down, and owns clusters again when it is back", limit, async (context) => {
    const etcd = await EtcdMembers.start({ count: 1 });
    context.after(() => etcd.stop());
    const fleet = await FleetEdges.open(context, etcd.urls, { count: 10 });
    for (let at = 0; at < 3; at += 1) await fleet.start();
    await fleet.settle("at the start");
    const watch = fleet.watch(fleet.edges);
    await etcd.kill(0);
    await sleep(10_000);
    const during = await fleet.probesPerNode(4_000);
    assert.ok(during >= 0.9 && during <= 1.1, `${during} while etcd is down`);
    await etcd.again(0);
    await sleep(8_000);
    await fleet.settle("after etcd was back");
    assert.deepEqual(await watch.end(), []);
    const [first, ...left] = fleet.edges;
    first?.process.process.kill("SIGTERM");
    assert.equal(await first?.process.exit, 0);
    const afterStop = fleet.watch(left);
    await fleet.settle("after an edge has left");
    assert.deepEqual(await afterStop.end(), []);
  });

  test("a member that is drained owns nothing, as every member shows", limit, async (context) => {
    const etcd = await EtcdMembers.start({ count: 1 });
    context.after(() => etcd.stop());
    const fleet = await FleetEdges.open(context, etcd.urls, { count: 12 });
    const [one, other] = [await fleet.start(), await fleet.start()];
    const member = new URL(other.admin).host;
    const shown = async ({ admin }: FleetEdge): Promise<JsonObject> => {
      const { fleet: document } = JSON.parse((await sendRequest(`${admin}/fleet`)).body);
      return (
        listOf(document.members)
          .filter(isObject)
          .find(({ id }) => id === member) ?? {}
      );
    };
    const owns = (what: string, edge: FleetEdge, isWanted: (clusters: unknown) => boolean): Promise<unknown> =>
      until({ what, seconds: 40 }, async () => isWanted((await shown(edge))["owns"]));
    await owns("a share of the clusters", one, (clusters) => Number(clusters) > 0 && Number(clusters) < 12);
    const url = `${one.admin}/fleet/members/${member}/drain`;
    const headers = { "content-type": "application/json" };
    const drained = await sendRequest(url, { method: "POST", headers, body: { for: "10min", by: "ann" } });
    assert.equal(drained.status, 200, drained.body);
    for (const edge of [one, other]) await owns("nothing of a drained member", edge, (clusters) => clusters === 0);
    const draining = (await shown(other))["draining"];
    assert.equal(isObject(draining) && draining["by"], "ann");
    await fleet.settle("while a member is drained");
    assert.equal((await sendRequest(url, { method: "DELETE", headers, body: {} })).status, 200);
    await owns("a share of the clusters again", other, (clusters) => Number(clusters) > 0);
  });

  test(
    "a drain that is set at one edge is in force at all, also when another one owns the cluster",
    limit,
    async (context) => {
      const etcd = await EtcdMembers.start({ count: 1 });
      context.after(() => etcd.stop());
      const fleet = await FleetEdges.open(context, etcd.urls, { count: 8 });
      for (let at = 0; at < 3; at += 1) await fleet.start();
      await fleet.settle("at the start");
      const [first, ...left] = fleet.edges;
      assert.ok(first !== undefined);
      const { wait, call } = drainsOf(fleet);
      // The first edge owns all clusters still.
      const [second, third] = left;
      assert.ok(second !== undefined && third !== undefined);
      await call(second, "POST", { for: "10min", reason: "new disk", by: "ann" });
      await wait(fleet.edges, 503);
      first.process.process.kill("SIGTERM");
      await first.process.exit;
      await fleet.settle("after an edge has left");
      await wait(left, 503);
      for (const { process } of left)
        assert.match(process.stderr, /"event":"drained"[^\n]*"by":"ann at [^\n]*"audit":true/);
      await call(third, "DELETE", { by: "ann" });
      await wait(left, 200);
    },
  );

  test("a drain at one of two owners is set at the other, too, and everywhere", limit, async (context) => {
    const etcd = await EtcdMembers.start({ count: 1 });
    context.after(() => etcd.stop());
    const fleet = await FleetEdges.open(context, etcd.urls, { count: 4 });
    for (let at = 0; at < 3; at += 1) await fleet.start({ observers: 2 });
    await fleet.settle("at the start", 2);
    const { wait, call } = drainsOf(fleet);
    const [first, ...left] = fleet.edges;
    assert.ok(first !== undefined);
    // The first edge owns all clusters still.
    await call(first, "POST", { for: "10min", reason: "new disk", by: "ann" });
    await wait(fleet.edges, 503);
    first.process.process.kill("SIGKILL");
    await first.process.exit;
    await fleet.settle("after an owner has died", 2);
    await wait(left, 503);
    const [second] = left;
    assert.ok(second !== undefined);
    await call(second, "DELETE", { by: "ann" });
    await wait(left, 200);
  });

  test("joins over TLS as a user who may write below the prefix, and no further", limit, async (context) => {
    const etcd = await EtcdMembers.start({ count: 1, isOverTls: true, tokenTtlS: 5 });
    context.after(() => etcd.stop());
    const writer = { name: "edges", password: "edges-password" };
    await etcd.call("/v3/auth/user/add", writer);
    await etcd.call("/v3/auth/role/add", { name: "sharing" });
    const [key, rangeEnd] = ["/rolecall/", "/rolecall0"].map((text) => Buffer.from(text).toString("base64"));
    await etcd.call("/v3/auth/role/grant", {
      name: "sharing",
      perm: { permType: "READWRITE", key, range_end: rangeEnd },
    });
    await etcd.call("/v3/auth/user/grant", { user: writer.name, role: "sharing" });
    await etcd.requireUsers();
    const passwordFile = join(temporaryFolder("fleet"), "password");
    writeFileSync(passwordFile, writer.password);
    const fleet = await FleetEdges.open(context, etcd.urls, { count: 6 });
    const access = { tls: { ca: etcd.tls?.authorityFile }, auth: { user: writer.name, password_file: passwordFile } };
    for (let at = 0; at < 2; at += 1) await fleet.start({}, access);
    await fleet.settle("at the start");
    const [first, second] = fleet.edges;
    assert.ok(first !== undefined && second !== undefined);
    const watch = fleet.watch(fleet.edges);
    // Longer than a lease and than a token without use.
    await sleep(12_000);
    assert.deepEqual(await watch.end(), []);
    for (const { process } of fleet.edges) assert.doesNotMatch(process.stderr, /fleet_lost/);
    await fleet.settle("after tokens have ended");
  });
});
