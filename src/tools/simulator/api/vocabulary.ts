import { isJsonObject, type SimulatorObject } from "../model/json.ts";

/** The names in documents, configuration keys and metrics: those of Patroni, or neutral ones (`ha`, `db`). */
export type Vocabulary = "patroni" | "neutral";

const words = {
  patroni: {
    product: "patroni",
    database: "postgresql",
    rewind: "use_pg_rewind",
    metric: "patroni_",
    databaseMetric: "patroni_postgres_",
  },
  neutral: { product: "ha", database: "database", rewind: "use_db_rewind", metric: "ha_", databaseMetric: "ha_db_" },
} as const;

/** The names of one vocabulary. */
export interface Words {
  /** The key in the status document and the last segment of `api_url`. */
  readonly product: string;
  readonly database: string;
  readonly rewind: string;
  readonly metric: string;
  readonly databaseMetric: string;
}

/** Returns the names of a vocabulary. */
export function wordsOf(vocabulary: Vocabulary): Words {
  return words[vocabulary];
}

/** Returns a configuration, or a change of one, with its database keys in this vocabulary. Accepts either. */
export function translateConfig(config: SimulatorObject, vocabulary: Vocabulary): SimulatorObject {
  const { database, rewind } = words[vocabulary];
  return rename(config, (key, value) => {
    if (key !== "postgresql" && key !== "database") return [key, value];
    const inner = isJsonObject(value)
      ? rename(value, (name, item) => [/^use_(?:pg|db)_rewind$/.test(name) ? rewind : name, item])
      : value;
    return [database, inner];
  });
}

type Entry = readonly [key: string, value: SimulatorObject[string]];

function rename(object: SimulatorObject, renamed: (...entry: Entry) => Entry): SimulatorObject {
  return Object.fromEntries(Object.entries(object).map((entry) => renamed(...entry)));
}
