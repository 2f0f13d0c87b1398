import { resolve } from "node:path";
import type { Guards } from "../health/guards.ts";
import { type ClusterShape, mergeGuards } from "./schema/cluster-schema.ts";
import type { ClusterConfig, Config, ListenerConfig } from "./model/config.ts";
import { type ListenerAccess, unrestrictedAccess } from "./model/listener-access-config.ts";
import type { ConfigShape } from "./schema/schema.ts";

/** What a checked configuration needs from around it. */
export interface ConfigOrigin {
  /** Absolute path of the folder that TLS files are relative to: the configuration file's. */
  readonly folder: string;
  /** Absolute path of the folder that the state file is relative to. */
  readonly stateFolder: string;
  /** Whether clusters without a scope learn it; else it is the cluster's name. */
  readonly learnsScope: boolean;
}

const healthListener: ListenerConfig = {
  address: "127.0.0.1",
  port: 8008,
  dialect: "node",
  cluster: null,
  node: null,
  wholeCluster: false,
  operatorPages: false,
  access: unrestrictedAccess,
  defaults: "",
};

/** Health checks, and beside them what operators look at. */
const defaultListeners: readonly ListenerConfig[] = [
  healthListener,
  { ...healthListener, port: 9108, dialect: "admin" },
];

/** Completes a checked configuration: names, scopes, guards and files filled in. The result is frozen throughout. */
export function assembleConfig(shape: ConfigShape, around: ConfigOrigin): Config {
  const { guards: said, clusters, listen, stateFile, ...complete } = shape;
  const guards = mergeGuards(said);
  const only = clusters.length === 1 ? (clusters[0]?.name ?? null) : null;
  return freeze({
    ...complete,
    clusters: clusters.map((cluster) => buildCluster(cluster, guards, around)),
    listen: (listen ?? defaultListeners).map((listener) => buildListener(listener, only, around)),
    stateFile: stateFile === null ? null : resolve(around.stateFolder, stateFile),
  });
}

function buildCluster(shape: ClusterShape, guards: Guards, { folder, learnsScope }: ConfigOrigin): ClusterConfig {
  const absolute = (file: string | null): string | null => (file === null ? null : resolve(folder, file));
  const { name, tls, auth } = shape;
  return {
    ...shape,
    scope: shape.scope ?? (learnsScope ? null : name),
    tls: tls === null ? null : { ...tls, ca: absolute(tls.ca), cert: absolute(tls.cert), key: absolute(tls.key) },
    auth: auth === null ? null : { ...auth, passwordFile: resolve(folder, auth.passwordFile) },
    guards: mergeGuards(shape.guards, guards),
  };
}

function buildListener(shape: ListenerConfig, only: string | null, { folder }: ConfigOrigin): ListenerConfig {
  const listener = { ...shape, access: buildDoor(shape.access, folder) };
  if (listener.cluster === "*") return { ...listener, cluster: null };
  return listener.dialect === "admin" ? listener : { ...listener, cluster: listener.cluster ?? only };
}

function buildDoor(access: ListenerAccess, folder: string): ListenerAccess {
  const { tls, auth } = access;
  return {
    ...access,
    tls:
      tls === null
        ? null
        : {
            ...tls,
            cert: resolve(folder, tls.cert),
            key: resolve(folder, tls.key),
            ca: tls.ca === null ? null : resolve(folder, tls.ca),
          },
    auth: auth === null ? null : { ...auth, bearer: auth.bearer.map((file) => resolve(folder, file)) },
  };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
