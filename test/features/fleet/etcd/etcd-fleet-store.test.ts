import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { suite, test, type TestContext } from "node:test";
import { json } from "node:stream/consumers";
import { EtcdFleetStore } from "../../../../src/features/fleet/etcd/etcd-fleet-store.ts";
import type { StorePhase } from "../../../../src/features/fleet/ownership/fleet-store.ts";
import { listenDuringTest } from "../../../fake/listen.ts";

const folder = "/rolecall/edges/";
const limit = { timeout: 30_000 };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** An etcd that grants a lease and has no keys. Each call is recorded; a watch gets what the test sends. */
async function openEtcd(context: TestContext): Promise<{
  readonly url: string;
  readonly calls: string[];
  readonly called: (path: string, times?: number) => Promise<void>;
  readonly send: (message: object) => Promise<void>;
  /** What the next calls of a path are answered with, by status and text; `null`: as usual. */
  readonly refuse: (path: string, refusal: readonly [status: number, text: string] | null) => void;
  /** Holds the next answer to a path back. @returns lets it go */
  readonly hold: (path: string) => () => void;
}> {
  const calls: string[] = [];
  const waiting = new Set<() => void>();
  const refused = new Map<string, readonly [status: number, text: string]>();
  const held = new Map<string, Promise<void>>();
  let onWatch: (response: ServerResponse) => void = () => {};
  const watch = new Promise<ServerResponse>((resolve) => (onWatch = resolve));
  const answers: Readonly<Record<string, object>> = {
    "/v3/lease/grant": { ID: "7", TTL: "5" },
    "/v3/lease/keepalive": { result: { ID: "7", TTL: "5" } },
    "/v3/kv/put": { header: { revision: "1" } },
    "/v3/kv/range": { header: { cluster_id: "1", revision: "1" }, kvs: [] },
    "/v3/lease/revoke": {},
    "/v3/kv/txn": { header: { revision: "2" }, succeeded: true },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await json(request);
    const path = request.url ?? "";
    calls.push(path);
    for (const look of waiting) look();
    await held.get(path);
    const refusal = refused.get(path);
    if (refusal !== undefined) response.writeHead(refusal[0]).end(JSON.stringify({ message: refusal[1] }));
    else if (path === "/v3/watch") {
      onWatch(response);
      response.write(`${JSON.stringify({ result: { created: true } })}\n`);
    } else response.end(JSON.stringify(answers[path] ?? {}));
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listenDuringTest(context, server);
  const called = (path: string, times = 1): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (calls.filter((call) => call === path).length < times) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    called,
    refuse: (path, refusal) => void (refusal === null ? refused.delete(path) : refused.set(path, refusal)),
    hold: (path) => {
      let release: () => void = () => {};
      held.set(path, new Promise((resolve) => (release = resolve)));
      return () => {
        held.delete(path);
        release();
      };
    },
    send: async (message) => void (await watch).write(`${JSON.stringify({ result: message })}\n`),
  };
}

/** A store whose first timer fires when the test says so. */
function openStore(
  context: TestContext,
  url: string,
): { readonly store: EtcdFleetStore; readonly fire: () => Promise<void> } {
  let onTimer: (run: () => void) => void = () => {};
  const timer = new Promise<() => void>((resolve) => (onTimer = resolve));
  const store = new EtcdFleetStore(
    { urls: [url], folder, leaseMs: 5_000 },
    {
      access: () => ({ tls: {}, auth: null }),
      setTimer: (run) => {
        onTimer(run);
        return () => {};
      },
      random: () => 0.5,
    },
  );
  context.after(() => store.stop());
  return { store, fire: async () => (await timer)() };
}

const register = { key: "members/a", value: () => "{}" };
/** Why a store does not join, or does not write its key. */
function problemOf(store: EtcdFleetStore): Promise<string> {
  return new Promise((resolve) => {
    const onPhase = (phase: StorePhase): void => {
      if ("problem" in phase && phase.problem !== null) resolve(phase.problem);
    };
    store.start(register, { ...noEvents, onPhase });
  });
}

const noEvents = { onPhase: () => {}, onAll: () => {}, onChange: () => {} };

suite("a fleet's keys in etcd", () => {
  test(
    "the lease is kept alive as soon as all keys are read: a slow etcd has used most of it up",
    limit,
    async (context) => {
      const etcd = await openEtcd(context);
      const { store, fire } = openStore(context, etcd.url);
      store.start(register, noEvents);
      await etcd.called("/v3/lease/keepalive");
      assert.ok(
        etcd.calls.indexOf("/v3/kv/range") < etcd.calls.indexOf("/v3/lease/keepalive"),
        "before any time passes",
      );
      await fire();
      await etcd.called("/v3/lease/keepalive", 2);
      assert.equal(etcd.calls.filter((path) => path === "/v3/lease/grant").length, 1);
    },
  );

  for (const path of ["/v3/lease/grant", "/v3/kv/put"])
    test(`a short answer to ${path} may not be long`, limit, async (context) => {
      const etcd = await openEtcd(context);
      etcd.refuse(path, [200, "x".repeat(300_000)]);
      const { store } = openStore(context, etcd.url);
      assert.match(await problemOf(store), /a body of more than 262144 bytes/);
    });

  test("the answer with all keys may be long", limit, async (context) => {
    const etcd = await openEtcd(context);
    etcd.refuse("/v3/kv/range", [200, "x".repeat(4_000_000)]);
    const { store } = openStore(context, etcd.url);
    assert.match(await problemOf(store), /etcd must answer a range request/);
  });

  test("a store that is stopped while it joins does not join, and gives its lease back", limit, async (context) => {
    const etcd = await openEtcd(context);
    const { store } = openStore(context, etcd.url);
    const phases: string[] = [];
    const release = etcd.hold("/v3/kv/range");
    store.start(register, { ...noEvents, onPhase: ({ kind }) => void phases.push(kind) });
    await etcd.called("/v3/kv/range");
    await store.stop();
    release();
    await etcd.called("/v3/lease/revoke");
    assert.deepEqual(phases, ["stopped"]);
    assert.ok(!etcd.calls.includes("/v3/watch"));
  });

  test("what etcd refuses to write is a problem of the connection, until it takes it again", limit, async (context) => {
    const etcd = await openEtcd(context);
    const { store, fire } = openStore(context, etcd.url);
    const problems: (string | null)[] = [];
    const changed = async (count: number): Promise<void> => {
      while (problems.length < count) await new Promise(setImmediate);
    };
    store.start(register, {
      ...noEvents,
      onPhase: (phase) => void problems.push("problem" in phase ? phase.problem : "?"),
    });
    await etcd.called("/v3/lease/keepalive");
    for (const path of ["/v3/kv/txn", "/v3/kv/put"])
      etcd.refuse(path, [429, "etcdserver: mvcc: database space exceeded"]);
    assert.equal(await store.claim("owners/c/s/0", "a"), false);
    await changed(2);
    assert.deepEqual(problems, [null, "kv/txn: etcd answers status 429, etcdserver: mvcc: database space exceeded"]);
    for (const path of ["/v3/kv/txn", "/v3/kv/put"]) etcd.refuse(path, null);
    // With the next sign of life the member's own key is tried.
    await fire();
    await changed(3);
    assert.deepEqual(problems.slice(2), [null]);
    assert.equal(await store.claim("owners/c/s/0", "a"), true);
  });

  for (const [what, events, expected] of [
    [
      "a value of 1.5 MB",
      [{ kv: { key: base64(`${folder}members/b`), value: base64("x".repeat(1_500_000)) } }],
      ["members/b"],
    ],
    [
      "10,000 keys that are deleted at once",
      Array.from({ length: 10_000 }, (_, at) => ({
        type: "DELETE",
        kv: { key: base64(`${folder}owners/cluster-${at}/0`), mod_revision: "1234567" },
      })),
      Array.from({ length: 10_000 }, (_, at) => `owners/cluster-${at}/0`),
    ],
  ] as const)
    test(`${what} in one message: the watch goes on`, limit, async (context) => {
      const etcd = await openEtcd(context);
      const { store } = openStore(context, etcd.url);
      const changed: string[] = [];
      const done = new Promise<void>((resolve) => {
        store.start(register, {
          ...noEvents,
          onChange: (key) => {
            changed.push(key);
            if (changed.length === expected.length) resolve();
          },
          onPhase: (phase) => assert.ok(phase.kind !== "apart", JSON.stringify(phase)),
        });
      });
      await etcd.send({ header: { revision: "2" }, events });
      await done;
      assert.deepEqual(changed, expected);
    });
});
