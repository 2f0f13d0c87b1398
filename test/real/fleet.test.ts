/** Edges of a fleet on a real etcd: what their nodes are asked, and what they answer while edges and etcd fail. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdMembers } from "./lab/etcd-members.ts";
import { FleetEdges } from "./lab/fleet-edges.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();
const limit = { timeout: 240_000 };

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
});
