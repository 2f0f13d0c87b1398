import { normalize } from "node:path";
import { oneNodeRoutes } from "../../health/route.ts";
import { type ConfigIssue, type ConfigPath, valueIssue } from "../model/issue.ts";
import type { PooledDatabaseShape, PoolerShape } from "../model/config.ts";
import { parseCheckText } from "../values/check-text.ts";
import { formatPoolerAddress } from "../values/pooler-address.ts";
import { repetitionIssues } from "./name-checks.ts";
import { checkTextIssues, findCluster } from "./named-checks.ts";
import { findPool } from "./pool-checks.ts";
import type { PoolerPart, ValidParts } from "./valid-parts.ts";

/** Checks the poolers against each other and against the clusters that they name, and parses their checks. */
export function checkPoolers(parts: ValidParts): readonly ConfigIssue[] {
  const poolers = parts.poolers.map((pooler, index): PlacedPooler => ({ ...pooler, path: ["poolers", index] }));
  return [
    ...repetitionIssues(
      poolers.map(({ name, path }) => ({ path: [...path, "name"], value: name })),
      "a name that no other pooler has",
    ),
    // Metrics and logs name both by the label `balancer`.
    ...poolers.flatMap(({ name, path }) =>
      name !== null && parts.balancers.some((balancer) => balancer.name === name)
        ? [valueIssue([...path, "name"], name, "a name that no balancer has")]
        : [],
    ),
    ...repetitionIssues(
      poolers.map(({ pgbouncer, path }) => ({
        path: [...path, "pgbouncer", "address"],
        value: pgbouncer === null ? null : formatPoolerAddress(pgbouncer.address),
      })),
      "an address that no other pooler has",
    ),
    ...poolers.flatMap((pooler) => [
      ...processIssues(pooler, poolers),
      ...fileIssues(pooler, poolers),
      ...repetitionIssues(
        pooler.databases.map((database, index) => ({
          path: [...atDatabase(pooler, index), "name"],
          value: database?.name,
        })),
        "a database that the pooler does not have yet",
      ),
      ...pooler.databases.flatMap((database, index) =>
        database === null ? [] : databaseIssues(database, atDatabase(pooler, index), parts),
      ),
    ]),
  ];
}

interface PlacedPooler extends PoolerPart {
  readonly path: ConfigPath;
}

function atDatabase({ path }: PlacedPooler, index: number): ConfigPath {
  return [...path, "databases", index];
}

/** TLS works over TCP only. Each process that shares a port must be listed, by its own socket folder. */
function processIssues({ pgbouncer, path }: PlacedPooler, poolers: readonly PlacedPooler[]): readonly ConfigIssue[] {
  if (pgbouncer === null) return [];
  const { address, processes, tls } = pgbouncer;
  const at = [...path, "pgbouncer"];
  if ("host" in address) {
    const allowed = `the folder of a Unix socket, because ${processes} processes share the port`;
    return processes === 1 ? [] : [valueIssue([...at, "address"], formatPoolerAddress(address), allowed)];
  }
  const noTls = tls === null ? [] : [valueIssue([...at, "tls"], tls, "null, because the address is a Unix socket")];
  if (processes === 1 || poolers.some(({ pgbouncer: other }) => other === null)) return noTls;
  const listed = poolers.filter(({ pgbouncer: other }) => sharesPort(other, address.port)).length;
  const allowed = `the number of poolers with processes, a socket folder and port ${address.port}: ${listed}`;
  return listed === processes ? noTls : [...noTls, valueIssue([...at, "processes"], processes, allowed)];
}

function sharesPort(pgbouncer: PoolerShape["pgbouncer"] | null, port: number): boolean {
  return (
    pgbouncer !== null && pgbouncer.processes > 1 && "folder" in pgbouncer.address && pgbouncer.address.port === port
  );
}

/** A pooler that reloads a file must be the only one to do so: success is read from its console. */
function fileIssues(pooler: PlacedPooler, poolers: readonly PlacedPooler[]): readonly ConfigIssue[] {
  const earlier = new Set(
    poolers.slice(0, poolers.indexOf(pooler)).flatMap(({ databases }) => databases.flatMap(fileOf)),
  );
  return pooler.databases.flatMap((database, index) =>
    database !== null && fileOf(database).some((file) => earlier.has(file))
      ? [valueIssue([...atDatabase(pooler, index), "file"], database.file, "a file that no other pooler has")]
      : [],
  );
}

function fileOf(database: PooledDatabaseShape | null): readonly string[] {
  return database === null || database.file === null ? [] : [normalize(database.file)];
}

function databaseIssues(database: PooledDatabaseShape, path: ConfigPath, parts: ValidParts): readonly ConfigIssue[] {
  const { pool, cluster, check, file } = database;
  const routes = `/${[...oneNodeRoutes].join(", /")}`;
  if (pool !== null) {
    const { found, issues } = findPool({ pool, cluster, check }, path, parts);
    const allowed = `a pool whose check is a route that at most one node passes, because the database has a file: ${routes}`;
    return [
      ...issues,
      ...(file === null || isForOneNode(found?.check, parts) ? [] : [valueIssue([...path, "pool"], pool, allowed)]),
    ];
  }
  const at = [...path, "check"];
  const { found, issues } = findCluster(cluster, path, parts.clusters);
  if (check === null) return issues;
  const wrong = checkTextIssues(check, at, { rules: parts, found });
  const allowed = `a route that at most one node passes, because the database has a file: ${routes}`;
  return [
    ...issues,
    ...wrong,
    ...(file === null || isForOneNode(check, parts) ? [] : [valueIssue(at, check, allowed)]),
  ];
}

/** rolecall leads a database with a file to one server. Of a check that cannot be parsed there are other issues. */
function isForOneNode(check: string | undefined, parts: ValidParts): boolean {
  const parsed = check === undefined ? null : parseCheckText(check, parts);
  return parsed === null || !parsed.ok || oneNodeRoutes.has(parsed.check.route);
}
