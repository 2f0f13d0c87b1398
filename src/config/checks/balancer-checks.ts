import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import type { BackendShape } from "../model/config.ts";
import { formatRuntimeAddress } from "../values/address.ts";
import { parseCheckText } from "../values/check-text.ts";
import { clusterNames, listNames, nodeIssues, repetitionIssues } from "./name-checks.ts";
import type { ValidParts } from "./valid-parts.ts";

/** Checks balancers against each other, against the clusters and nodes that they name, and parses their checks. */
export function checkBalancers(parts: ValidParts): readonly ConfigIssue[] {
  const balancers = parts.balancers.map((balancer, index) => ({ ...balancer, path: ["balancers", index] }));
  return [
    ...repetitionIssues(
      balancers.map(({ name, path }) => ({ path: [...path, "name"], value: name })),
      "a name that no other balancer has",
    ),
    ...repetitionIssues(
      balancers.map(({ socket, path }) => ({
        path: [...path, "haproxy", "socket"],
        value: socket === null ? null : formatRuntimeAddress(socket),
      })),
      "a socket that no other balancer has",
    ),
    ...balancers.flatMap(({ backends, path }) => {
      const at = (index: number): ConfigPath => [...path, "haproxy", "backends", index];
      return [
        ...repetitionIssues(
          backends.map((backend, index) => ({ path: [...at(index), "name"], value: backend?.name })),
          "a name that no other backend of the balancer has",
        ),
        ...backends.flatMap((backend, index) => (backend === null ? [] : checkBackend(backend, at(index), parts))),
      ];
    }),
  ];
}

function checkBackend(backend: BackendShape, path: ConfigPath, parts: ValidParts): readonly ConfigIssue[] {
  const names = namesOfBackend(backend, path, parts);
  const parsed = parseCheckText(backend.check, parts);
  if (parsed.ok) return names;
  const { subject, value, allowed } = parsed.problem;
  const found = subject === "route" ? backend.check : `${subject}: ${value}`;
  return [...names, valueIssue([...path, "check"], found, `a check whose ${subject} is ${allowed}`)];
}

/** Checks that the cluster exists, and that each node does where all nodes are configured. */
function namesOfBackend(
  { cluster, servers }: BackendShape,
  path: ConfigPath,
  { clusters }: ValidParts,
): readonly ConfigIssue[] {
  const names = clusterNames(clusters);
  if (names === null) return [];
  const found = cluster === null && clusters.length === 1 ? clusters[0] : clusters.find(({ name }) => name === cluster);
  if (found === undefined)
    return [valueIssue([...path, "cluster"], cluster ?? undefined, `the name of a cluster: ${listNames(names)}`)];
  const named = Object.entries(servers ?? {}).map(([server, node]) => ({ path: [...path, "servers", server], node }));
  return nodeIssues(named, found);
}
