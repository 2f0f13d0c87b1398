import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import { checkAllowed } from "../schema/pool-schema.ts";
import type { BackendShape } from "../model/config.ts";
import { formatRuntimeAddress } from "../values/address.ts";
import { nodeIssues, repetitionIssues } from "./name-checks.ts";
import { checkTextIssues, findCluster } from "./named-checks.ts";
import { findPool } from "./pool-checks.ts";
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
  const { pool, cluster, check, weight } = backend;
  const named = pool === null ? null : findPool({ pool, cluster, check, weight }, path, parts);
  const wanted = named === null ? cluster : (named.found?.cluster ?? null);
  // The issues of a pool's cluster are those of the pool.
  const isKnown = named === null || named.found !== null;
  const { found, issues } = isKnown ? findCluster(wanted, path, parts.clusters) : { found: null, issues: [] };
  const following =
    backend.followMembers === null || backend.servers === null
      ? []
      : [valueIssue([...path, "follow_members"], backend.followMembers, "left out, because servers is set")];
  const servers = Object.entries(backend.servers ?? {}).map(([server, node]) => ({
    path: [...path, "servers", server],
    node,
  }));
  return [
    ...(named === null ? issues : named.issues),
    ...following,
    ...(found === null ? [] : nodeIssues(servers, found)),
    ...(named === null ? ownCheckIssues(check, [...path, "check"], { rules: parts, found }) : []),
  ];
}

function ownCheckIssues(
  check: string | null,
  path: ConfigPath,
  context: Parameters<typeof checkTextIssues>[2],
): readonly ConfigIssue[] {
  return check === null ? [valueIssue(path, undefined, checkAllowed)] : checkTextIssues(check, path, context);
}
