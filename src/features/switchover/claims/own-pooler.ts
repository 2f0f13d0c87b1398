import type { PoolerConfig } from "../../../core/config/model/config.ts";

/** Databases of one pooler that another rolecall names. */
interface NamedPooler {
  readonly pooler: string;
  readonly databases: readonly string[];
}

/**
 * Finds the pooler that another rolecall names, by the same name and with the same databases of the cluster.
 * @param own the poolers in the configuration of this process
 * @returns why it is not there, as a text
 */
export function ownPooler(
  { pooler, databases }: NamedPooler,
  cluster: string,
  own: readonly PoolerConfig[],
): PoolerConfig | string {
  const known = own.find(({ name }) => name === pooler);
  if (known === undefined) return `the configuration of this peer has no pooler ${pooler}`;
  const missing = databases.find(
    (wanted) => !known.databases.some(({ name, cluster: of }) => name === wanted && of === cluster),
  );
  if (missing === undefined) return known;
  return `pooler ${pooler} has no database ${missing} of ${cluster} in the configuration of this peer`;
}
