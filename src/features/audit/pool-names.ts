import type { Config } from "../../core/config/model/config.ts";

/** A check over a cluster, and the pool that has it. */
export interface NamedCheck {
  /** `null`: it has no name of its own. */
  readonly pool: string | null;
  /** Such as `/replica?lag=1MB`. */
  readonly check: string;
}

type NamedParts = Pick<Config, "pools" | "unnamedPools" | "balancers" | "poolers" | "audit">;

/**
 * The pool that a backend, database or Envoy cluster stands for. Envoys that get their endpoints from rolecall have the
 * names of pools.
 * @param target the name of the balancer or pooler
 * @returns `null` if the configuration has none
 */
export function poolOf(config: NamedParts, target: string, backend: string): NamedCheck | null {
  const { pools, unnamedPools } = config;
  const wanted = nameIn(config, target, backend);
  const pool = pools.find(({ name }) => name === wanted);
  if (pool !== undefined) return { pool: pool.name, check: pool.checkText };
  const unnamed = unnamedPools.find(({ users }) =>
    users.some((user) => user.name === target && user.backend === backend),
  );
  return unnamed === undefined ? null : { pool: null, check: unnamed.checkText };
}

function nameIn({ balancers, poolers, audit }: NamedParts, target: string, backend: string): string | null {
  const balancer = balancers.find(({ name }) => name === target)?.haproxy.backends;
  const parts = balancer ?? poolers.find(({ name }) => name === target)?.databases;
  if (parts !== undefined) return parts.find(({ name }) => name === backend)?.pool ?? null;
  return audit.envoys.find(({ name }) => name === target)?.pools?.[backend] ?? backend;
}
