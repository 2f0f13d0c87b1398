import assert from "node:assert/strict";
import { test } from "node:test";
import type { ListenerConfig } from "../../src/core/config/model/config.ts";
import { ListenError } from "../../src/core/http/listener/listen-error.ts";
import { configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { appOf, fixedCluster, limit, statusOf } from "./app-fixture.ts";
import { workerCounts } from "../fake/worker-counts.ts";

const xdsDefaults = { checksAt: null, cutMs: 2_000, staleAfterMs: null, envoys: [] };

/** What a listener on a port becomes in a reload, and whether the reload is applied. */
const changes: readonly (readonly [from: Partial<ListenerConfig>, to: Partial<ListenerConfig>, isApplied: boolean])[] =
  [
    [{}, { dialect: "exporter", cluster: "demo" }, true],
    [{ dialect: "exporter", cluster: "demo" }, {}, true],
    [{}, { dialect: "admin" }, false],
    [{ dialect: "admin" }, {}, false],
    [{ dialect: "exporter", cluster: "demo" }, { dialect: "admin" }, false],
    [{ dialect: "admin" }, { dialect: "exporter", cluster: "demo" }, false],
    [{ dialect: "admin" }, { dialect: "admin", cluster: "demo" }, true],
    [{}, { dialect: "xds", xds: xdsDefaults }, false],
  ];

for (const workers of workerCounts)
  test(
    `a reload changes the dialect of an open port or is refused, with ${workers} workers`,
    limit,
    async (context) => {
      const nodes = await openFakeCluster(context, ["pg1"]);
      const clusters = [fixedCluster(nodes)];
      const listenersOf = (parts: readonly Partial<ListenerConfig>[]): readonly ListenerConfig[] =>
        parts.map((listener, at) => listenerOf({ wholeCluster: true, ...listener, port: ports[at] ?? 0 }));
      const ports: number[] = [];
      for (let at = 0; at < changes.length; at += 1) ports.push(await freePort());
      const before = configOf({ clusters, listen: listenersOf(changes.map(([from]) => from)), workers });
      const app = appOf(context, before);
      await app.start();
      const answers = (): Promise<readonly number[]> => Promise.all(ports.map((port) => statusOf(port, "/readyz?")));
      const dialects = (): readonly string[] => app.listeners.map(({ config }) => config.dialect);
      assert.deepEqual(new Set(await answers()), new Set([200]));
      for (const [at, [from, to, isApplied]] of changes.entries()) {
        const listen = listenersOf(changes.map(([each], other) => (other === at ? to : each)));
        const name = `${from.dialect ?? "node"} to ${to.dialect ?? "node"}`;
        if (isApplied) await app.apply({ ...before, listen });
        else
          await assert.rejects(app.apply({ ...before, listen }), (error: unknown) => {
            assert.ok(error instanceof ListenError, name);
            assert.deepEqual([error.kind, error.listener.port], ["settings", ports[at]], name);
            assert.match(error.message, /or change dialect from or to admin, agent or xds$/);
            return true;
          });
        assert.equal(dialects()[at], (isApplied ? to : from).dialect ?? "node", name);
        assert.deepEqual(new Set(await answers()), new Set([200]), name);
        await app.apply(before);
      }
    },
  );
