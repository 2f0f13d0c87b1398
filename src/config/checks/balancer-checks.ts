import type { ConfigIssue, ConfigPath } from "../model/issue.ts";
import type { BackendShape } from "../model/config.ts";
import { formatRuntimeAddress } from "../values/address.ts";
import { nodeIssues, repetitionIssues } from "./name-checks.ts";
import { checkTextIssues, findCluster } from "./named-checks.ts";
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
  const { found, issues } = findCluster(backend.cluster, path, parts.clusters);
  const named = Object.entries(backend.servers ?? {}).map(([server, node]) => ({
    path: [...path, "servers", server],
    node,
  }));
  return [
    ...issues,
    ...(found === null ? [] : nodeIssues(named, found)),
    ...checkTextIssues(backend.check, [...path, "check"], parts),
  ];
}
