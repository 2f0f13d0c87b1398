import { basename } from "node:path";
import type { ListenerConfig } from "../model/config.ts";
import type { DialectName, ListenerDialect } from "../values/listener-dialect.ts";
import type { ListenerAccess } from "../model/listener-access-config.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import { parseCompanions } from "../../cluster/values/companion-name.ts";
import { formatHostPort } from "../values/address.ts";
import { isLoopback } from "../values/loopback.ts";
import { clusterNames, listNames, nodeIssues, repetitionIssues } from "./name-checks.ts";
import { companionIssues } from "./named-checks.ts";
import { findPool } from "./pool-checks.ts";
import type { ClusterPart, ListenerPart, ValidParts } from "./valid-parts.ts";

/**
 * Checks listeners against each other, against the clusters and nodes that they name, and their keys against their
 * dialect and address.
 * @param dialects those of features
 */
export function checkListeners(parts: ValidParts, dialects: readonly ListenerDialect[]): readonly ConfigIssue[] {
  const keys = foreignKeysByDialect(dialects);
  const { clusters, listen } = parts;
  const addresses = listen.map(({ listener }, index) => ({
    path: ["listen", index, "port"],
    // Port 0 means any free port, so two of them never conflict.
    value:
      listener === null || listener.port === 0 ? null : formatHostPort({ host: listener.address, port: listener.port }),
  }));
  return [
    ...repetitionIssues(addresses, "an address and port that no other listener has"),
    ...listen.flatMap(({ listener, written }, index) => {
      if (listener === null) return [];
      const at = ["listen", index];
      return [
        ...checkKeys({ listener, written }, keys, at),
        ...checkNames(listener, clusters, at),
        ...checkTokenClusters(listener, clusters, at),
        ...checkFollowers(listener, at),
        ...checkAccess(listener, at),
        ...checkCompanions(listener, clusters, at),
        ...checkAgentPool({ listener, written }, at, parts),
      ];
    }),
  ];
}

const agentKeys = ["pool", "check", "weight", "drain_by"];
/** Keys of dialects that speak HTTP. */
const httpKeys = "management read_only auth proxy_protocol trusted_origins operator_pages whole_cluster".split(" ");
const tokenKeys = ["hint_tokens", "pause_tokens", "before_stop_tokens", "followers"];

/** Which keys a dialect does not have, and why, where that says what to write. */
interface ForeignKeys {
  readonly names: readonly string[];
  readonly reasons: Readonly<Record<string, string>>;
}

/** The keys that each dialect does not have. */
function foreignKeysByDialect(ofFeatures: readonly ListenerDialect[]): ReadonlyMap<DialectName, ForeignKeys> {
  const ownKeys = ofFeatures.flatMap((dialect) => dialect.ownKeys);
  const core: readonly (readonly [DialectName, readonly string[], Readonly<Record<string, string>>])[] = [
    ["node", [...agentKeys, "read_only", ...tokenKeys], { read_only: ": management: off refuses such requests" }],
    [
      "admin",
      [...agentKeys, "operator_pages", "node", "whole_cluster"],
      { operator_pages: ", which always has these pages" },
    ],
    [
      "exporter",
      [...agentKeys, "operator_pages", ...tokenKeys, "whole_cluster"],
      { whole_cluster: ": without node, the listener always answers for the whole cluster" },
    ],
    ["agent", ["tls", ...httpKeys, ...tokenKeys], {}],
  ];
  return new Map([
    ...core.map(([name, names, reasons]): [DialectName, ForeignKeys] => [
      name,
      { names: [...names, ...ownKeys], reasons },
    ]),
    ...ofFeatures.map(({ name, ownKeys: own, lacks, reasons }): [DialectName, ForeignKeys] => {
      const ofOthers = ownKeys.filter((key) => !own.includes(key));
      return [name, { names: [...agentKeys, ...ofOthers, ...lacks, ...httpKeys, ...tokenKeys], reasons }];
    }),
  ]);
}

/** Checks that keys are written where the dialect needs them, and not where it does not have them. */
function checkKeys(
  { listener, written }: { readonly listener: ListenerConfig; readonly written: ListenerPart["written"] },
  keys: ReadonlyMap<DialectName, ForeignKeys>,
  at: ConfigPath,
): readonly ConfigIssue[] {
  const { dialect, cluster, node, wholeCluster } = listener;
  const isWritten = (key: string): boolean =>
    key === "whole_cluster" ? wholeCluster : (written[key] ?? null) !== null;
  const { names, reasons } = keys.get(dialect) ?? { names: [], reasons: {} };
  const issues = names.filter(isWritten).map((key) => {
    const reason = reasons[key] ?? "";
    return valueIssue([...at, key], written[key], `left out, because the dialect is ${dialect}${reason}`);
  });
  // Only the exporter dialect has a default port.
  if (dialect !== "exporter" && !isWritten("port"))
    issues.push(valueIssue([...at, "port"], undefined, "a whole number from 0 to 65535"));
  // Exporter paths contain no cluster name, so the listener must serve exactly one cluster.
  if (dialect === "exporter" && cluster === "*")
    issues.push(valueIssue([...at, "cluster"], "*", "the name of one cluster, because the dialect is exporter"));
  if (dialect === "node" && node !== null && wholeCluster) {
    const allowed = "false or left out, because the listener answers for one node";
    issues.push(valueIssue([...at, "whole_cluster"], true, allowed));
  }
  return issues;
}

/** Checks that each cluster that a listener answers for has the companions that its defaults and its check ask for. */
function checkCompanions(
  { cluster, defaults, agent }: ListenerConfig,
  clusters: readonly ClusterPart[],
  at: ConfigPath,
): readonly ConfigIssue[] {
  const served = clusters.filter(({ name }) => cluster === null || cluster === "*" || name === cluster);
  const first = (names: readonly string[], key: readonly string[]): readonly ConfigIssue[] =>
    served.flatMap((found) => companionIssues(names, [...at, ...key], found)).slice(0, 1);
  return [
    ...first(companionsIn(defaults), ["defaults", "with"]),
    ...(agent === null ? [] : first(companionsIn(agent.check.query), ["check"])),
  ];
}

function companionsIn(query: string): readonly string[] {
  return parseCompanions(new URLSearchParams(query).get("with") ?? "") ?? [];
}

/** Checks the pool that an agent listener refers to. */
function checkAgentPool(
  { listener, written }: { readonly listener: ListenerConfig; readonly written: ListenerPart["written"] },
  at: ConfigPath,
  parts: ValidParts,
): readonly ConfigIssue[] {
  const pool = listener.agent?.pool ?? null;
  if (pool === null) return [];
  const [cluster, check, weight] = ["cluster", "check", "weight"].map((key) => written[key] ?? null);
  return findPool({ pool, cluster, check, weight }, at, parts).issues;
}

/** Checks the names of the clusters that tokens are for. */
function checkTokenClusters(
  { access }: ListenerConfig,
  clusters: readonly ClusterPart[],
  at: ConfigPath,
): readonly ConfigIssue[] {
  const names = clusterNames(clusters);
  const named = [
    ...access.beforeStopTokens.map(({ cluster }, index) => ({
      cluster,
      path: ["before_stop_tokens", index, "cluster"],
    })),
    ...access.followers.flatMap(({ clusters: followed }, index) =>
      (followed ?? []).map((cluster, position) => ({ cluster, path: ["followers", index, "clusters", position] })),
    ),
  ];
  return named.flatMap(({ cluster, path }) =>
    names === null || names.includes(cluster)
      ? []
      : [valueIssue([...at, ...path], cluster, `one of ${listNames(names)}`)],
  );
}

/** Checks that each follower of a listener can be identified: by a token file of its own, or by a certificate. */
function checkFollowers({ access }: ListenerConfig, at: ConfigPath): readonly ConfigIssue[] {
  const { followers, tls, auth } = access;
  if (followers.length === 0) return [];
  const named = followers.map(({ tokenFile }, index) => ({
    path: [...at, "followers", index, "token_file"],
    value: tokenFile === null ? undefined : basename(tokenFile),
  }));
  const others = (auth?.bearer ?? []).map((file) => ({ path: [...at, "auth", "bearer"], value: basename(file) }));
  const isCertified = (tls?.client ?? "off") !== "off";
  return [
    ...repetitionIssues([...others, ...named], "a file whose name no other token file of the listener has"),
    ...followers.flatMap(({ certificate }, index) =>
      certificate === null || isCertified
        ? []
        : [
            valueIssue(
              [...at, "followers", index, "certificate"],
              certificate,
              "set only if tls.client is optional or required",
            ),
          ],
    ),
  ];
}

/** Checks the names of the cluster and the node that a listener answers for. */
function checkNames(
  { cluster, node, dialect }: ListenerConfig,
  clusters: readonly ClusterPart[],
  at: ConfigPath,
): readonly ConfigIssue[] {
  const names = clusterNames(clusters);
  if (names === null) return [];
  if (cluster === null && dialect === "exporter" && clusters.length > 1) {
    const allowed = `the name of a cluster, because the dialect is exporter: ${listNames(names)}`;
    return [valueIssue([...at, "cluster"], undefined, allowed)];
  }
  const known = clusters.find(({ name }) => name === cluster);
  if (cluster !== null && cluster !== "*" && known === undefined)
    return [valueIssue([...at, "cluster"], cluster, `* or the name of a cluster: ${listNames(names)}`)];
  if (node === null) return [];
  const target = known ?? (cluster === null && clusters.length === 1 ? clusters[0] : undefined);
  const path = [...at, "node"];
  return target === undefined
    ? [valueIssue(path, node, `set together with cluster, one of ${listNames(names)}`)]
    : nodeIssues([{ path, node }], target);
}

/** Checks the access control of a listener against its dialect and address. */
function checkAccess({ address, dialect, access }: ListenerConfig, at: ConfigPath): readonly ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  if (access.auth?.certificate === true && (access.tls?.client ?? "off") === "off")
    issues.push(valueIssue([...at, "auth", "certificate"], true, "set only if tls.client is optional or required"));
  const isExposed = !isLoopback(address) && access.allow === null && !isAuthenticated(access);
  // A client of an admin listener can drain every node, so one that is reachable from outside must restrict its clients.
  if (dialect === "admin" && isExposed && !access.readOnly) {
    const allowed =
      "a loopback address, because anyone who reaches an admin listener can drain nodes, " +
      "unless clients are restricted by auth, tls.client: required or allow, or read_only is true";
    issues.push(valueIssue([...at, "address"], address, allowed));
  }
  const allowed = access.management ? managementAllowed({ dialect, access }, isExposed) : null;
  return allowed === null ? issues : [...issues, valueIssue([...at, "management"], "on", allowed)];
}

/** Returns what `management` must be where it must not be on, or `null`. */
function managementAllowed(
  { dialect, access }: Pick<ListenerConfig, "dialect" | "access">,
  isExposed: boolean,
): string | null {
  if (dialect === "exporter") return "off or left out, because the dialect is exporter";
  // A client of any other port can stop the database, so a port reachable from outside must restrict its clients.
  if (dialect !== "admin")
    return isExposed
      ? "off on a non-loopback address, unless clients are restricted by auth, tls.client: required or allow"
      : null;
  // An admin listener forwards switchovers only for authenticated callers: a web page at it can send them.
  if (access.readOnly) return "off or left out, because read_only is true";
  return isAuthenticated(access)
    ? null
    : "off on an admin listener, unless clients are authenticated by auth or tls.client: required";
}

function isAuthenticated({ auth, tls }: ListenerAccess): boolean {
  return auth !== null || tls?.client === "required";
}
