import { listOf, objectOf } from "../../cluster/values/json.ts";
import type * as z from "zod";
import type {
  BackendShape,
  ClusterShape,
  ListenerConfig,
  NodeConfig,
  PooledDatabaseShape,
  PoolerShape,
  PoolShape,
  RuntimeAddress,
} from "../model/config.ts";
import { backendSchema, runtimeAddressSchema } from "../schema/balancer-schema.ts";
import { nodeSchema } from "../schema/cluster-schema.ts";
import { poolSchema } from "../schema/pool-schema.ts";
import { pgbouncerSchema, pooledDatabaseSchema } from "../schema/pooler-schema.ts";
import { ignoreParamsSchema, probeSchema } from "../schema/schema.ts";
import { name } from "../schema/value-schemas.ts";
import type { ConfigIssue } from "../model/issue.ts";

/**
 * The elements of a configuration that are valid, each parsed alone. They are checked against each other although
 * others are invalid: rolecall promises every error at once, so one misspelt key must not hide clashing names elsewhere.
 * Every element is at its index in the file; an invalid one is `null`.
 */
export interface ValidParts {
  readonly clusters: readonly ClusterPart[];
  readonly listen: readonly ListenerPart[];
  readonly pools: readonly PoolPart[];
  readonly balancers: readonly BalancerPart[];
  readonly poolers: readonly PoolerPart[];
  /** The upstreams of all clusters as written. */
  readonly follow: readonly unknown[];
  readonly ignoreParams: readonly string[];
  /** The probe interval in ms; 0 if it is invalid: then no time is too short for it. */
  readonly intervalMs: number;
}

/**
 * Checks what is written of a feature against the rest. Never throws.
 * @param written the whole configuration as it is written
 */
export type CheckFeature = (written: Readonly<Record<string, unknown>>, parts: ValidParts) => readonly ConfigIssue[];

export interface ClusterPart {
  /** Known in an invalid cluster too, so that others may name it; `null` if it is invalid itself. */
  readonly name: string | null;
  /** All but its nodes. */
  readonly cluster: ClusterShape | null;
  readonly nodes: readonly (NodeConfig | null)[];
}

export interface ListenerPart {
  readonly listener: ListenerConfig | null;
  /** Its keys as written, without defaults. */
  readonly written: Readonly<Record<string, unknown>>;
}

export interface PoolPart {
  /** Known in an invalid pool too, so that others may name it; `null` if it is invalid itself. */
  readonly name: string | null;
  readonly pool: PoolShape | null;
}

export interface BalancerPart {
  readonly name: string | null;
  readonly socket: RuntimeAddress | null;
  readonly backends: readonly (BackendShape | null)[];
}

export interface PoolerPart {
  readonly name: string | null;
  readonly pgbouncer: PoolerShape["pgbouncer"] | null;
  readonly databases: readonly (PooledDatabaseShape | null)[];
}

/** The schemas allow fewer elements in any list. */
const elementsMax = 1024;
const nameSchema = name();

/** The schemas of elements that features add keys to. */
export interface ElementSchemas {
  readonly cluster: z.ZodType<ClusterShape>;
  readonly listener: z.ZodType<ListenerConfig>;
}

/** Parses the elements of the merged configuration. Never throws. */
export function readValidParts(value: Readonly<Record<string, unknown>>, schemas: ElementSchemas): ValidParts {
  const { interval } = objectOf(value["probe"]);
  return {
    clusters: elementsOf(value["clusters"]).map((cluster) => clusterPart(cluster, schemas.cluster)),
    listen: elementsOf(value["listen"]).map((listener) => ({
      listener: valid(schemas.listener, listener),
      written: objectOf(listener),
    })),
    pools: elementsOf(value["pools"]).map((pool) => ({
      name: valid(nameSchema, objectOf(pool)["name"]),
      pool: valid(poolSchema, pool),
    })),
    balancers: elementsOf(value["balancers"]).map(balancerPart),
    poolers: elementsOf(value["poolers"]).map(poolerPart),
    follow: elementsOf(value["follow"]),
    ignoreParams: valid(ignoreParamsSchema, value["ignore_params"]) ?? [],
    intervalMs: valid(probeSchema, { interval })?.intervalMs ?? 0,
  };
}

function clusterPart(value: unknown, schema: ElementSchemas["cluster"]): ClusterPart {
  const { nodes, ...written } = objectOf(value);
  return {
    name: valid(nameSchema, written["name"]),
    cluster: valid(schema, Array.isArray(nodes) ? written : value),
    nodes: elementsOf(nodes).map((node) => valid(nodeSchema, node)),
  };
}

function balancerPart(value: unknown): BalancerPart {
  const written = objectOf(value);
  const { socket, backends } = objectOf(written["haproxy"]);
  return {
    name: valid(nameSchema, written["name"]),
    socket: valid(runtimeAddressSchema, socket),
    backends: elementsOf(backends).map((backend) => valid(backendSchema, backend)),
  };
}

function poolerPart(value: unknown): PoolerPart {
  const { name: writtenName, pgbouncer, databases } = objectOf(value);
  return {
    name: valid(nameSchema, writtenName),
    pgbouncer: valid(pgbouncerSchema, pgbouncer),
    databases: elementsOf(databases).map((database) => valid(pooledDatabaseSchema, database)),
  };
}

/** Returns a value as its schema gives it, or `null`. */
export function valid<T>(schema: z.ZodType<T>, value: unknown): T | null {
  return schema.safeParse(value).data ?? null;
}

/** Returns the elements of what may be a list, up to a bound. */
export function elementsOf(value: unknown): readonly unknown[] {
  return listOf(value).slice(0, elementsMax);
}
