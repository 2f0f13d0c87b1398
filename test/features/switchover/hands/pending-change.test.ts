import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccessMaterial } from "../../../../src/core/config/access-material.ts";
import { EtcdSource } from "../../../../src/features/dcs/etcd-source.ts";
import { PendingChange } from "../../../../src/features/switchover/hands/pending-change.ts";
import { FakeEtcd } from "../../../fake/fake-etcd.ts";

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("a pending change is read again every 300 ms, and is not known after 2 s without an answer", async () => {
  let [nowMs, reads] = [0, 0];
  let answer: () => Promise<boolean | null> = () => Promise.resolve(true);
  const pending = new PendingChange({
    now: () => nowMs,
    read: () => {
      reads += 1;
      return answer();
    },
  });
  const lookAt = async (atMs: number): Promise<readonly [string, number]> => {
    nowMs = atMs;
    const said = pending.look();
    await settled();
    return [said, reads];
  };
  assert.deepEqual(await lookAt(0), ["unknown", 1]);
  assert.deepEqual(await lookAt(50), ["yes", 1]);
  answer = () => Promise.resolve(false);
  assert.deepEqual(await lookAt(300), ["yes", 2]);
  assert.deepEqual(await lookAt(350), ["no", 2]);
  answer = () => Promise.resolve(null);
  assert.deepEqual(await lookAt(600), ["no", 3]);
  assert.deepEqual(await lookAt(650), ["unknown", 3]);
  answer = () => Promise.reject(new Error("an injected failure"));
  assert.deepEqual(await lookAt(900), ["unknown", 4]);
  answer = () => Promise.resolve(false);
  assert.deepEqual(await lookAt(1_200), ["unknown", 5]);
  answer = () => new Promise(() => {});
  assert.deepEqual(await lookAt(1_500), ["no", 6]);
  assert.deepEqual(await lookAt(3_200), ["no", 6], "one read at a time");
  assert.deepEqual(await lookAt(3_201), ["unknown", 6]);
});

test("etcd says whether a change of the leader is pending", async (context) => {
  const etcd = await FakeEtcd.start();
  const location = { endpoints: [etcd.url], prefix: "/service", scope: "demo" };
  const noAccess: AccessMaterial = { tls: {}, auth: null };
  const source = new EtcdSource(location, noAccess, 500);
  context.after(() => {
    source.close();
    return etcd.close();
  });
  assert.equal(await source.isChangePending(), false);
  etcd.put("/service/other/failover", "{}");
  assert.equal(await source.isChangePending(), false);
  etcd.put("/service/demo/failover", '{"leader":"pg1","member":"pg2"}');
  assert.equal(await source.isChangePending(), true);
  etcd.delete("/service/demo/failover");
  assert.equal(await source.isChangePending(), false);
  etcd.faults.garbage = "none";
  assert.equal(await source.isChangePending(), null);
  etcd.faults.isHung = true;
  assert.equal(await source.isChangePending(), null);
});
