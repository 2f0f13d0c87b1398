import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { suite, test, type TestContext } from "node:test";
import { json } from "node:stream/consumers";
import { EtcdFleetStore } from "../../../src/fleet/etcd/etcd-fleet-store.ts";
import { listenDuringTest } from "../../fake/listen.ts";

const folder = "/rolecall/edges/";
const limit = { timeout: 30_000 };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** An etcd that grants a lease and has no keys. Each call is recorded; a watch gets what the test sends. */
async function openEtcd(context: TestContext): Promise<{
  readonly url: string;
  readonly calls: string[];
  readonly called: (path: string, times?: number) => Promise<void>;
  readonly send: (message: object) => void;
}> {
  const calls: string[] = [];
  const waiting = new Set<() => void>();
  let watch: ServerResponse | null = null;
  const answers: Readonly<Record<string, object>> = {
    "/v3/lease/grant": { ID: "7", TTL: "5" },
    "/v3/lease/keepalive": { result: { ID: "7", TTL: "5" } },
    "/v3/kv/put": { header: { revision: "1" } },
    "/v3/kv/range": { header: { cluster_id: "1", revision: "1" }, kvs: [] },
    "/v3/lease/revoke": {},
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await json(request);
    const path = request.url ?? "";
    if (path === "/v3/watch") {
      watch = response;
      response.write(`${JSON.stringify({ result: { created: true } })}\n`);
    } else response.end(JSON.stringify(answers[path] ?? {}));
    calls.push(path);
    for (const look of waiting) look();
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
    send: (message) => void watch?.write(`${JSON.stringify({ result: message })}\n`),
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
      await etcd.called("/v3/watch");
      etcd.send({ header: { revision: "2" }, events });
      await done;
      assert.deepEqual(changed, expected);
    });
});
