import { isJsonObject, type SimulatorObject } from "../model/json.ts";

/** Whose names documents, configuration keys and metrics carry: the product's, or the seed's neutral ones (`ha`, `db`). */
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

/** The words of one vocabulary. */
export interface Words {
  /** The key in the status document and the last segment of `api_url`. */
  readonly product: string;
  readonly database: string;
  readonly rewind: string;
  readonly metric: string;
  readonly databaseMetric: string;
}

/** Looks the words of a vocabulary up. */
export function wordsOf(vocabulary: Vocabulary): Words {
  return words[vocabulary];
}

/** A configuration, or a change to one, with the database's keys renamed to this vocabulary's; both spellings are understood. */
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
