import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { App, type AppOptions } from "../../src/app/app.ts";
import type { ClusterConfig, Config, ListenerConfig } from "../../src/core/config/model/config.ts";
import type { Logger } from "../../src/core/log/logger.ts";
import { clusterOf, listenerOf, nodeOf } from "../fake/config.ts";
import type { FakeNode } from "../fake/fake-node.ts";
import { silentLogger } from "../fake/silent-logger.ts";

/** A listener that answers for the whole cluster. */
export const whole = listenerOf({ wholeCluster: true });

/** The time limit of a test. */
export const limit = { timeout: 20_000 };

/** A cluster with these nodes as fixed nodes. */
export function fixedCluster(nodes: readonly FakeNode[], parts: Partial<ClusterConfig> = {}): ClusterConfig {
  return clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })), ...parts });
}

/** An App that stops when the test ends. */
export function appOf(
  context: TestContext,
  config: Config,
  { log = silentLogger, ...options }: AppOptions & { readonly log?: Logger } = {},
): App {
  const app = new App(config, log, options);
  context.after(() => app.stop({ drains: false }));
  return app;
}

/** A configuration with short probe intervals. */
export function withQuickProbes(config: Config): Config {
  return { ...config, probe: { ...config.probe, intervalMs: 50, clusterIntervalMs: 100 } };
}

/** The port of the listener of an App that has the address and API of `listener`. */
export function portFor(app: App, listener: ListenerConfig): number {
  const open = app.listeners.find(
    ({ config }) => config.address === listener.address && config.dialect === listener.dialect,
  );
  assert.ok(open !== undefined, "the listener is not open");
  return open.port;
}

/** The status of a GET request. */
export async function statusOf(port: number, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}
