import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import type { PartialBackend } from "../sources/partial-balancers.ts";
import type { PartialConfig } from "../sources/partial-config.ts";
import { parseCheckText } from "../values/check-text.ts";
import { repetitionIssues } from "./cluster-checks.ts";
import { listNames } from "./listener-checks.ts";

/** Checks balancers against each other, against the clusters and nodes that they name, and parses their checks. */
export function checkBalancers(partial: PartialConfig): readonly ConfigIssue[] {
  const { balancers } = partial;
  const texts = (key: "name" | "socket", path: ConfigPath): readonly Named[] =>
    balancers.map((balancer, index) => {
      const value = balancer[key];
      return { path: ["balancers", index, ...path], value: typeof value === "string" ? value : undefined };
    });
  return [
    ...repetitionIssues(texts("name", ["name"]), "a name that no other balancer has"),
    ...repetitionIssues(texts("socket", ["haproxy", "socket"]), "a socket that no other balancer has"),
    ...balancers.flatMap(({ backends }, index) => {
      const at = (backend: number): ConfigPath => ["balancers", index, "haproxy", "backends", backend];
      const names = backends.map(({ name }, backend) => ({ path: [...at(backend), "name"], value: name }));
      return [
        ...repetitionIssues(names, "a name that no other backend of the balancer has"),
        ...backends.flatMap((backend, position) => checkBackend(backend, at(position), partial)),
      ];
    }),
  ];
}

interface Named {
  readonly path: ConfigPath;
  readonly value: string | undefined;
}

function checkBackend(backend: PartialBackend, path: ConfigPath, partial: PartialConfig): readonly ConfigIssue[] {
  return [...checkOfBackend(backend, path, partial), ...namesOfBackend(backend, path, partial)];
}

function checkOfBackend(
  { check }: PartialBackend,
  path: ConfigPath,
  { probe, ignoreParams }: PartialConfig,
): readonly ConfigIssue[] {
  if (check === undefined) return [];
  const parsed = parseCheckText(check, { ignoreParams, intervalMs: probe.values.intervalMs });
  if (parsed.ok) return [];
  const { subject, value, allowed } = parsed.problem;
  const rule = subject === "route" ? `a check whose route is ${allowed}` : `a check whose ${subject} is ${allowed}`;
  return [valueIssue([...path, "check"], subject === "route" ? check : `${subject}: ${value}`, rule)];
}

/** Checks that the cluster exists, and that each node does where all nodes are configured. */
function namesOfBackend(
  { cluster, servers }: PartialBackend,
  path: ConfigPath,
  { clusters }: PartialConfig,
): readonly ConfigIssue[] {
  const names = clusters.map(({ name }) => name);
  // An invalid cluster name could be the one that the backend names.
  if (cluster === undefined || names.includes(undefined) || clusters.length === 0) return [];
  const found = cluster === null && clusters.length === 1 ? clusters[0] : clusters.find(({ name }) => name === cluster);
  if (found === undefined)
    return [valueIssue([...path, "cluster"], cluster ?? undefined, `the name of a cluster: ${listNames(names)}`)];
  const nodes = found.nodes.map(({ name }) => name);
  if (found.hasDiscover || nodes.includes(undefined) || nodes.length === 0) return [];
  return servers
    .filter(([, node]) => !nodes.includes(node))
    .map(([server, node]) =>
      valueIssue([...path, "servers", server], node, `a node of the cluster ${found.name ?? ""}: ${listNames(nodes)}`),
    );
}
