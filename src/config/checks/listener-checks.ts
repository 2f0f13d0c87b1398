import { formatHostPort } from "../values/address.ts";
import { repetitionIssues } from "./cluster-checks.ts";
import type { PartialConfig, PartialCluster, PartialListener } from "../sources/partial-config.ts";
import { type ConfigIssue, valueIssue } from "../model/issue.ts";

const namesMax = 20;

/** Checks listeners against each other, and against the clusters and nodes that they name. */
export function checkListeners({ clusters, listen }: PartialConfig): readonly ConfigIssue[] {
  const addresses = listen.map(({ address, port }, index) => ({
    path: ["listen", index, "port"],
    // Port 0 means any free port, so two of them never conflict.
    value:
      address === undefined || port === undefined || port === 0 ? undefined : formatHostPort({ host: address, port }),
  }));
  return [
    ...repetitionIssues(addresses, "an address and port that no other listener has"),
    ...listen.flatMap(checkPort),
    ...listen.flatMap(checkDialectOptions),
    ...listen.flatMap((listener, index) => checkNames(listener, { index, clusters })),
  ];
}

/** Checks the names of the cluster and the node that a listener answers for. */
function checkNames(
  { cluster, node, dialect }: PartialListener,
  { index, clusters }: { index: number; clusters: readonly PartialCluster[] },
): readonly ConfigIssue[] {
  const names = clusters.map(({ name }) => name);
  // An invalid cluster name could be the one that the listener names.
  if (cluster === undefined || names.includes(undefined) || clusters.length === 0) return [];
  const known = clusters.find(({ name }) => name === cluster);
  if (cluster === null && dialect === "exporter" && clusters.length > 1) {
    return [
      valueIssue(
        ["listen", index, "cluster"],
        undefined,
        `the name of a cluster, because the dialect is exporter: ${listNames(names)}`,
      ),
    ];
  }
  if (cluster !== null && cluster !== "*" && known === undefined) {
    return [valueIssue(["listen", index, "cluster"], cluster, `* or the name of a cluster: ${listNames(names)}`)];
  }
  if (node === null || node === undefined) return [];
  const target = known ?? (cluster === null && clusters.length === 1 ? clusters[0] : undefined);
  if (target === undefined) {
    const allowed = `set together with cluster, one of ${listNames(names)}`;
    return [valueIssue(["listen", index, "node"], node, allowed)];
  }
  const nodes = target.nodes.map(({ name }) => name);
  if (target.hasDiscover || nodes.includes(undefined) || nodes.includes(node) || nodes.length === 0) return [];
  return [valueIssue(["listen", index, "node"], node, `a node of the cluster ${target.name}: ${listNames(nodes)}`)];
}

/** Only the exporter dialect has a default port. */
function checkPort({ hasPort, dialect }: PartialListener, index: number): readonly ConfigIssue[] {
  return hasPort || dialect === "exporter"
    ? []
    : [valueIssue(["listen", index, "port"], undefined, "a whole number from 0 to 65535")];
}

function checkDialectOptions(listener: PartialListener, index: number): readonly ConfigIssue[] {
  return [...checkOperatorPages(listener, index), ...checkAgentKeys(listener, index), ...checkScope(listener, index)];
}

const agentKeys: ReadonlySet<string> = new Set(["check", "weight", "drain_by"]);

/** Agent listeners have keys of their own, and none that need HTTP. */
function checkAgentKeys({ dialect, dialectKeys }: PartialListener, index: number): readonly ConfigIssue[] {
  const isAgent = dialect === "agent";
  return [...dialectKeys]
    .filter(([key]) => (isAgent ? !agentKeys.has(key) : agentKeys.has(key)))
    .map(([key, found]) => valueIssue(["listen", index, key], found, `left out, because the dialect is ${dialect}`));
}

/** `operator_pages` is valid only for node listeners: exporters have no such pages, admin listeners always have. */
function checkOperatorPages({ operatorPages, dialect }: PartialListener, index: number): readonly ConfigIssue[] {
  if (dialect === "node" || operatorPages === undefined) return [];
  const why = dialect === "admin" ? "admin, which always has these pages" : dialect;
  return [valueIssue(["listen", index, "operator_pages"], operatorPages, `left out, because the dialect is ${why}`)];
}

/** Checks what a listener answers for: a node, a cluster or all clusters, as far as its dialect allows. */
function checkScope(listener: PartialListener, index: number): readonly ConfigIssue[] {
  switch (listener.dialect) {
    case "node":
      return checkNodeListener(listener, index);
    case "admin":
      return checkAdminListener(listener, index);
    case "exporter":
      return checkExporterListener(listener, index);
    case "agent":
      return checkAgentListener(listener, index);
  }
}

/** Exporter paths contain no cluster name, so the listener must serve exactly one cluster. */
function checkExporterListener({ cluster, wholeCluster }: PartialListener, index: number): readonly ConfigIssue[] {
  const allowed =
    "left out, because the dialect is exporter: without node, the listener always answers for the whole cluster";
  return [
    ...(cluster === "*"
      ? [valueIssue(["listen", index, "cluster"], "*", "the name of one cluster, because the dialect is exporter")]
      : []),
    ...(wholeCluster ? [valueIssue(["listen", index, "whole_cluster"], true, allowed)] : []),
  ];
}

function checkNodeListener({ node, wholeCluster }: PartialListener, index: number): readonly ConfigIssue[] {
  return node !== null && wholeCluster
    ? [
        valueIssue(
          ["listen", index, "whole_cluster"],
          true,
          "false or left out, because the listener answers for one node",
        ),
      ]
    : [];
}

/** An agent answers for one server at a time. */
function checkAgentListener({ wholeCluster }: PartialListener, index: number): readonly ConfigIssue[] {
  const allowed = "left out, because the dialect is agent";
  return wholeCluster ? [valueIssue(["listen", index, "whole_cluster"], true, allowed)] : [];
}

function checkAdminListener({ node, wholeCluster }: PartialListener, index: number): readonly ConfigIssue[] {
  const allowed = "left out, because the dialect is admin";
  return [
    ...(node === null ? [] : [valueIssue(["listen", index, "node"], node, allowed)]),
    ...(wholeCluster ? [valueIssue(["listen", index, "whole_cluster"], true, allowed)] : []),
  ];
}

/** Joins names for a message; many are shortened. */
export function listNames(names: readonly (string | undefined)[]): string {
  const shown = names.slice(0, namesMax).join(", ");
  return names.length > namesMax ? `${shown} and ${names.length - namesMax} more` : shown;
}
