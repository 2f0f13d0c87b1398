/** What an exporter's page says of writes to the disk: which sessions wait for it, and what has reached it. */
import { noDiskFigures, type DiskFigures } from "./exporter-report.ts";
import { type Sample, type Samples, toNonNegativeInteger } from "./sample.ts";

/**
 * Wait events of sessions that write WAL, and of those that extend a data file, in lower case: PostgreSQL 17 renamed them
 * (`WALSync`, `WalSync`). Readers wait for other writes to data files too, when they evict pages, and a sort waits for
 * its temporary files.
 */
const walEvents = new Set("walsync walwrite walinitsync walinitwrite walsyncmethodassign walbufmapping".split(" "));
const extendEvents = new Set(["datafileextend"]);

/** Reads the figures from the samples of a page. */
export function diskFigures(samples: Samples): DiskFigures {
  return { ...noDiskFigures, ...positions(samples), ...namedWaits(samples), ...countedWaits(samples) };
}

function positions(samples: Samples): Partial<DiskFigures> {
  const sizes = samples.all("pg_database_size_bytes");
  return {
    inserted: toNonNegativeInteger(samples.value("pg_insert_lsn", "db_insert_lsn")),
    flushed: toNonNegativeInteger(samples.value("pg_flush_lsn", "db_flush_lsn")),
    databaseBytes: sizes.length === 0 ? null : toNonNegativeInteger(sumOf(sizes)),
  };
}

/** postgres_exporter names the event that a session waits for. */
function namedWaits(samples: Samples): Partial<DiskFigures> {
  const active = samples.all("pg_stat_activity_count").filter(({ labels }) => labels.get("state") === "active");
  if (active.every(({ labels }) => labels.get("wait_event") === undefined)) return {};
  const waiting = (events: ReadonlySet<string>): number =>
    sumOf(active.filter(({ labels }) => events.has((labels.get("wait_event") ?? "").toLowerCase())));
  return { walWaits: waiting(walEvents), fileWaits: waiting(extendEvents) };
}

/** pg_exporter counts the sessions of each database by the type of what they wait for. */
function countedWaits(samples: Samples): Partial<DiskFigures> {
  const counts = samples.all("pg_wait_count", "db_wait_count");
  if (counts.length === 0) return {};
  const ofClients = counts.filter(({ labels }) => labels.get("datname") !== "_system");
  return { otherWaits: sumOf(ofClients.filter(({ labels }) => ["IO", "LWLock"].includes(labels.get("event") ?? ""))) };
}

function sumOf(samples: readonly Sample[]): number {
  return samples.reduce((sum, { value }) => sum + value, 0);
}
