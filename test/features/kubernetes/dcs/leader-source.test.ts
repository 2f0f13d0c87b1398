/** What Patroni keeps in Kubernetes, read and watched at an API server. */
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { DcsChange } from "../../../../src/core/dcs/dcs-source.ts";
import type { WatchEnd } from "../../../../src/core/etcd/etcd-messages.ts";
import { readApiAccess } from "../../../../src/features/kubernetes/api/api-access.ts";
import { ApiClient } from "../../../../src/features/kubernetes/api/api-client.ts";
import { kubernetesSourceOf } from "../../../../src/features/kubernetes/dcs/leader-source.ts";
import { FakeApiServer } from "../../../fake/fake-api-server.ts";
import { until } from "../../../fake/until.ts";

interface Fixture {
  readonly server: FakeApiServer;
  readonly source: NonNullable<ReturnType<typeof kubernetesSourceOf>>;
  /** Names the leader, as Patroni does. */
  readonly lead: (leader: string | null, more?: Readonly<Record<string, string>>) => void;
  readonly changes: DcsChange[];
  /** Reads, and watches from there. */
  readonly follow: () => Promise<{ readonly ended: Promise<WatchEnd> }>;
}

async function fixture(context: TestContext): Promise<Fixture> {
  const server = await FakeApiServer.open(context);
  const kubeconfig = server.kubeconfig();
  const client = new ApiClient({
    readAccess: () => readApiAccess({ kubeconfig, context: null }, {}),
    now: () => performance.now(),
    callMs: 500,
  });
  const dcs = {
    etcd: [],
    kubernetes: { namespace: "databases", object: "configmaps", selector: null },
    prefix: "/service",
    scope: null,
    tls: null,
    auth: null,
  } as const;
  const source = kubernetesSourceOf({ name: "demo", scope: null }, dcs, () => client);
  assert.ok(source !== null);
  context.after(() => {
    source.close();
    client.close();
  });
  const labels = { "cluster-name": "demo" };
  const lead: Fixture["lead"] = (leader, more = {}) => {
    const annotations = { ...(leader === null ? {} : { leader }), ...more };
    server.put("configmaps", { metadata: { name: "demo-leader", labels, annotations } });
  };
  lead("pg1");
  server.put("configmaps", { metadata: { name: "other-leader", labels: {}, annotations: { leader: "x" } } });
  const changes: DcsChange[] = [];
  const follow: Fixture["follow"] = async () => {
    const result = await source.read();
    assert.ok("read" in result, JSON.stringify(result));
    const watch = source.watch(result.read.revision, (change) => void changes.push(change));
    await until("the watch", () => server.watches > 0);
    return watch;
  };
  return { server, source, lead, changes, follow };
}

describe("the leader that Patroni keeps in Kubernetes", () => {
  test("is read, with a revision that grows with each change", async (context) => {
    const { source, lead, server } = await fixture(context);
    const first = await source.read();
    lead("pg2");
    const second = await source.read();
    lead(null, { optime: "1" });
    const third = await source.read();
    assert.ok("read" in first && "read" in second && "read" in third);
    assert.deepEqual([first.read.leader, second.read.leader, third.read.leader], ["pg1", "pg2", null]);
    assert.ok(first.read.revision < second.read.revision && second.read.revision < third.read.revision);
    assert.equal(first.read.source, "kubernetes /api/v1/namespaces/databases/configmaps/demo-leader");
    assert.ok(third.read.hasScope);
    server.delete("configmaps", "demo-leader");
    const gone = await source.read();
    assert.ok("read" in gone && !gone.read.hasScope && gone.read.leader === null);
  });

  test("is watched: a renewal is no change, another leader is one", async (context) => {
    const { lead, changes, follow } = await fixture(context);
    await follow();
    lead("pg1", { renewTime: "2" });
    lead("pg2", { renewTime: "3" });
    lead(null, { optime: "1" });
    await until("the changes", () => changes.length >= 2);
    assert.deepEqual(changes, [
      { kind: "leader", names: "pg2" },
      { kind: "leader", names: null },
    ]);
  });

  test("says whether a change of it is pending", async (context) => {
    const { source, server } = await fixture(context);
    assert.equal(await source.isChangePending(), false);
    const metadata = { name: "demo-failover", labels: { "cluster-name": "demo" }, annotations: { member: "pg2" } };
    server.put("configmaps", { metadata });
    assert.equal(await source.isChangePending(), true);
    server.denied.add("list configmaps");
    assert.equal(await source.isChangePending(), null);
  });

  test("cannot be read without the right, from a server that hangs or is gone, nor from an answer that is no list", async (context) => {
    const { source, server } = await fixture(context);
    const failure = async (): Promise<string> => {
      const result = await source.read();
      assert.ok("failure" in result);
      return `${result.failure.kind} ${result.failure.detail}`;
    };
    server.denied.add("list configmaps");
    assert.match(await failure(), /^status .* status 403: .*cannot list resource "configmaps"/);
    server.denied.clear();
    for (const [bad, expected] of [
      [{ kind: "answer", status: 401, body: "{}" }, /^status .* status 401$/],
      [{ kind: "answer", status: 429, body: "{}" }, /^status .* status 429$/],
      [{ kind: "answer", status: 200, body: "{}" }, /^body the list must have a resourceVersion/],
      [{ kind: "hang" }, /^timeout no answer within 500 ms/],
      [{ kind: "reset" }, /^(closed|unreachable|refused|reset|protocol|.*) /],
    ] as const) {
      server.misbehave = () => bad;
      assert.match(await failure(), expected);
      // After a failure of the connection nothing is sent for a moment.
      await new Promise((resolve) => void setTimeout(resolve, 250));
    }
    server.misbehave = () => null;
    assert.ok("read" in (await source.read()));
  });

  test("a watch that ends says why: closed, compacted, garbage, or refused", async (context) => {
    const { server, follow, source } = await fixture(context);
    const closed = await follow();
    server.cutWatches();
    assert.equal((await closed.ended).cause, "closed");
    const garbage = await follow();
    server.say("configmaps", '{"type":"MODIFIED"}\n');
    assert.equal((await garbage.ended).cause, "garbage");
    const watch = source.watch(1, () => {});
    server.put("configmaps", { metadata: { name: "any" } });
    assert.ok(watch !== null);
    watch.cancel();
    server.compact();
    const { cause, detail } = await source.watch(1, () => {}).ended;
    assert.deepEqual([cause, /too old resource version/.test(detail)], ["compacted", true]);
    server.denied.add("watch configmaps");
    const refused = await source.watch(1, () => {}).ended;
    assert.deepEqual([refused.cause, /cannot watch resource/.test(refused.detail)], ["failed", true]);
  });

  test("a watch that is not needed any more never ends, and its connection is closed", async (context) => {
    const { server, source, follow } = await fixture(context);
    const { ended } = await follow();
    let isEnded = false;
    void ended.then(() => (isEnded = true));
    source.close();
    await until("the end of the connection", () => server.watches === 0);
    await new Promise((resolve) => void setTimeout(resolve, 50));
    assert.equal(isEnded, false);
  });
});
