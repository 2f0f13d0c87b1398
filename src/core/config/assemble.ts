import { resolve } from "node:path";
import type { Guards } from "../health/guards.ts";
import type {
  BackendShape,
  BalancerConfig,
  BalancerShape,
  ClusterConfig,
  ClusterShape,
  Config,
  ConfigShape,
  WholeShape,
  HaproxyBackendConfig,
  ListenerConfig,
  PoolConfig,
  PoolerConfig,
  PoolerShape,
  SimulatorConfig,
  TlsFiles,
} from "./model/config.ts";
import type { ListenerAccess } from "./model/listener-access-config.ts";
import { mergeGuards } from "./schema/cluster-schema.ts";
import { formatRuntimeAddress } from "./values/address.ts";
import { formatPoolerAddress } from "./values/pooler-address.ts";
import { checkTextParts, parseCheckText } from "./values/check-text.ts";
import { buildPool, judgedBy, unnamedPools, zonesIn } from "./build-pools.ts";
import { balancedCheckText } from "./values/pool-check.ts";

/** What file names and missing scopes in a configuration are resolved with. */
export interface ConfigOrigin {
  /** Absolute path of the folder that file names in lists are relative to: that of the configuration file. */
  readonly folder: string;
  /** Returns the same for the file name of a key outside lists: a flag or variable may have set it. */
  readonly folderOf: (...path: readonly string[]) => string;
  /** Whether a missing scope is learned from the first cluster document or report. If not, it is the cluster's name. */
  readonly learnsScope: boolean;
}

/** Completes what a configuration says of a feature: its paths become absolute. */
export type CompleteFeature = (shape: WholeShape, origin: ConfigOrigin) => WholeShape;

/**
 * Completes a checked configuration: fills in scopes, guards and absolute paths. The result is deeply
 * frozen.
 */
export function assembleConfig(
  written: WholeShape,
  origin: ConfigOrigin,
  completions: readonly CompleteFeature[] = [],
): { readonly config: Config; readonly simulator: SimulatorConfig | null } {
  const shape = completions.reduce((whole, complete) => complete(whole, origin), written);
  const { guards: guardsShape, clusters, listen, pools, balancers, poolers, simulator, follow, ...complete } = shape;
  const stateFile = shape.stateFile === null ? null : resolve(origin.folderOf("state_file"), shape.stateFile);
  const guards = mergeGuards(guardsShape);
  const onlyClusterName = clusters.length === 1 ? (clusters[0]?.name ?? null) : null;
  const config = {
    ...complete,
    clusters: clusters.map((cluster) => buildCluster(cluster, { guards, follow }, origin)),
    // mergeSources has filled it in.
    listen: (listen ?? []).map((listener) =>
      buildListener(listener, onlyClusterName, { shape, folder: origin.folder }),
    ),
    pools: pools.flatMap((pool) => buildPool(pool, onlyClusterName, shape) ?? []),
    balancers: balancers.map((balancer) => buildBalancer(balancer, onlyClusterName, shape)),
    poolers: poolers.map((pooler) => buildPooler(pooler, onlyClusterName, { shape, folder: origin.folder })),
    unnamedPools: unnamedPools({ ...shape, listen: listen ?? [] }, onlyClusterName),
    stateFile,
  };
  return freeze({ config, simulator });
}

function buildCluster(
  shape: ClusterShape,
  { guards, follow }: { readonly guards: Guards; readonly follow: ConfigShape["follow"] },
  { folder, learnsScope }: ConfigOrigin,
): ClusterConfig {
  const { name, tls, auth, dcs } = shape;
  const inFolder = (): string => folder;
  return {
    ...shape,
    scope: shape.scope ?? (learnsScope ? null : name),
    ...accessIn(inFolder, { tls, auth }),
    dcs: dcs === null ? null : { ...dcs, ...accessIn(inFolder, dcs) },
    follow: (shape.follow ?? follow).map((upstream) => ({
      ...upstream,
      tls: absoluteTls(inFolder, upstream.tls),
      tokenFile: absolute(folder, upstream.tokenFile),
    })),
    guards: mergeGuards(shape.guards, guards),
  };
}

/**
 * The TLS files and the password file with absolute paths.
 * @param folderOf the folder of the file of a key, such as `tls`, `ca`
 */
export function accessIn(
  folderOf: ConfigOrigin["folderOf"],
  { tls, auth }: Pick<ClusterConfig, "tls" | "auth">,
): Pick<ClusterConfig, "tls" | "auth"> {
  return {
    tls: absoluteTls(folderOf, tls),
    auth:
      auth === null ? null : { ...auth, passwordFile: resolve(folderOf("auth", "password_file"), auth.passwordFile) },
  };
}

/** The same TLS files by absolute paths. */
export function absoluteTls(folderOf: ConfigOrigin["folderOf"], tls: TlsFiles | null): TlsFiles | null {
  if (tls === null) return null;
  const file = (key: "ca" | "cert" | "key"): string | null => absolute(folderOf("tls", key), tls[key]);
  return { ...tls, ca: file("ca"), cert: file("cert"), key: file("key") };
}

/** The absolute path of a file that is written in a list; `null` stays. */
export function absolute(folder: string, file: string | null): string | null {
  return file === null ? null : resolve(folder, file);
}

function buildListener(
  written: ListenerConfig,
  only: string | null,
  { shape, folder }: { readonly shape: ConfigShape; readonly folder: string },
): ListenerConfig {
  const listener = { ...withPool(written, only, shape), access: buildAccess(written.access, folder) };
  if (listener.cluster === "*") return { ...listener, cluster: null };
  return listener.dialect === "admin" ? listener : { ...listener, cluster: listener.cluster ?? only };
}

/** Fills in what an agent listener takes from its pool. */
function withPool(
  listener: ListenerConfig,
  only: string | null,
  shape: Pick<ConfigShape, "ignoreParams" | "probe" | "pools">,
): ListenerConfig {
  const { agent } = listener;
  const named = agent === null ? undefined : shape.pools.find(({ name }) => name === agent.pool);
  const pool = named === undefined ? null : buildPool(named, only, shape);
  if (agent === null || pool === null) return listener;
  const check = { route: pool.check.route, query: checkTextParts(pool.checkText).query };
  return { ...listener, cluster: pool.cluster, agent: { ...agent, check, weight: pool.weight } };
}

/** The check of a pool as HAProxy sends it. */
function balancedCheck(
  { check, checkText }: PoolConfig,
  { ignoreParams, probe }: Pick<ConfigShape, "ignoreParams" | "probe">,
): PoolConfig["check"] {
  const parsed = parseCheckText(balancedCheckText(checkText, check.route), {
    ignoreParams,
    intervalMs: probe.intervalMs,
  });
  return parsed.ok ? parsed.check : check;
}

function buildBalancer(
  { name, haproxy }: BalancerShape,
  only: string | null,
  shape: Pick<ConfigShape, "ignoreParams" | "probe" | "pools">,
): BalancerConfig {
  const buildBackend = (backend: BackendShape): readonly HaproxyBackendConfig[] => {
    const judged = judgedBy(backend, only, shape);
    // checkBalancers has refused what cannot be judged.
    if (judged === null) return [];
    const { cluster, weight } = judged;
    const check = backend.pool === null ? judged.check : balancedCheck(judged, shape);
    const zones = zonesIn(haproxy.zone, check);
    return [
      { ...backend, cluster, check: { ...check, zones }, weight: backend.pool === null ? backend.weight : weight },
    ];
  };
  return {
    name: name ?? formatRuntimeAddress(haproxy.socket),
    haproxy: { ...haproxy, backends: haproxy.backends.flatMap(buildBackend) },
  };
}

function buildPooler(
  { name, pgbouncer, databases, ...pooler }: PoolerShape,
  only: string | null,
  { shape, folder }: { readonly shape: Pick<ConfigShape, "ignoreParams" | "probe" | "pools">; readonly folder: string },
): PoolerConfig {
  const { tls, passwordFile } = pgbouncer;
  return {
    ...pooler,
    name: name ?? formatPoolerAddress(pgbouncer.address),
    pgbouncer: { ...pgbouncer, tls: absoluteTls(() => folder, tls), passwordFile: absolute(folder, passwordFile) },
    databases: databases.flatMap((database) => {
      const judged = judgedBy(database, only, shape);
      // checkPoolers has refused what cannot be judged.
      if (judged === null) return [];
      const { cluster, check } = judged;
      return [{ ...database, cluster, check, file: absolute(folder, database.file) }];
    }),
  };
}

function buildAccess(access: ListenerAccess, folder: string): ListenerAccess {
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
    hintTokens: access.hintTokens.map((file) => resolve(folder, file)),
    pauseTokens: access.pauseTokens.map((file) => resolve(folder, file)),
    followers: access.followers.map((follower) => ({ ...follower, tokenFile: absolute(folder, follower.tokenFile) })),
    beforeStopTokens: access.beforeStopTokens.map(({ cluster, file }) => ({ cluster, file: resolve(folder, file) })),
  };
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freeze(inner);
  }
  return value;
}
