import type { Config, ListenerConfig } from "../../../src/core/config/model/config.ts";
import { defaultGuards } from "../../../src/core/health/guards.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../../test/fake/config.ts";
import { exporterAt } from "./exporter-connection.ts";
import type { Profile } from "../profile.ts";
import type { ModelCluster, Shape } from "../run/model-cluster.ts";

/** The health listener of a simulated rolecall. */
export const healthListener: ListenerConfig = listenerOf({ wholeCluster: true });
/** Its listener for agent checks. */
export const agentListener: ListenerConfig = listenerOf({
  dialect: "agent",
  agent: { pool: null, check: { route: "replica", query: "" }, weight: null, drainBy: "weight" },
});

/** rolecall's configuration for a modelled cluster. */
export function configurationFor(
  { watched, shape }: Pick<ModelCluster, "watched"> & { readonly shape: Pick<Shape, "surviveMs"> },
  profile: Profile,
  {
    hasDcs,
    stateFile,
    follows = [],
  }: { readonly hasDcs: boolean; readonly stateFile: string | null; readonly follows?: readonly string[] },
): Config {
  const { name, scope, isDiscovered, nodes } = watched;
  const { surviveMs } = shape;
  return configOf({
    listen: [healthListener, agentListener],
    workers: 0,
    stateFile,
    probe: {
      intervalMs: profile.intervalMs,
      connectTimeoutMs: profile.connectMs,
      timeoutMs: profile.timeoutMs,
      fall: profile.fall,
      rise: 1,
      maxAgeMs: profile.maxAgeMs,
      burstIntervalMs: Math.min(250, profile.intervalMs),
      clusterIntervalMs: profile.clusterMs,
      configIntervalMs: profile.clusterMs * 5,
      metricsIntervalMs: profile.clusterMs,
    },
    clusters: [
      clusterOf({
        name,
        scope,
        discover: isDiscovered ? nodes.map(({ api }) => api) : [],
        nodes: isDiscovered
          ? []
          : nodes.map(({ name: node, api }) =>
              nodeOf({ name: node, api, exporter: surviveMs > 0 ? exporterAt(api) : null }),
            ),
        guards: { ...defaultGuards, attachWindowMs: profile.attachMs, demotedForMs: profile.demotedMs, surviveMs },
        dcs: hasDcs ? dcsConfig : null,
        follow: follows.map((url) => ({ url, tokenFile: null, tls: null })),
      }),
    ],
  });
}

const dcsConfig: NonNullable<Config["clusters"][number]["dcs"]> = {
  etcd: ["http://etcd1:2379", "http://etcd2:2379", "http://etcd3:2379"],
  prefix: "/service",
  scope: null,
  tls: null,
  auth: null,
};
