import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { countText } from "../../../core/health/wording.ts";
import type { ShownConnection } from "../../../core/balancing/pgbouncer/documents.ts";
import { okLine, type PreflightLine, warningLine } from "./preflight-line.ts";

/** What SHOW SERVERS said again and again, and SHOW CLIENTS at the end. */
export interface ServerSamples {
  /** Oldest first. */
  readonly servers: readonly (readonly ShownConnection[])[];
  readonly clients: readonly ShownConnection[];
  /** From the first sample to the last, in ms. */
  readonly spanMs: number;
}

/** The fewest samples that say something. */
const samplesMin = 2;
/** The most connections of one pooler that are named. */
const namedMax = 5;

/**
 * The connections that were active all the time, so that their transactions may hold a PAUSE. PgBouncer does not show
 * when a transaction began, so this proves nothing: a transaction of many short statements looks like many of them.
 * @param databases the names of those that are to be paused
 * @param samples or why there are none
 */
export function holderLines(
  { name, pauseLimitMs }: PoolerConfig,
  databases: readonly string[],
  samples: ServerSamples | Error,
): readonly PreflightLine[] {
  const decides = `pause_limit ${pauseLimitMs / 1000} s decides`;
  if (samples instanceof Error || samples.servers.length < samplesMin) {
    const why =
      samples instanceof Error ? samples.message : `only ${countText(samples.servers.length, "sample")} in time`;
    const text = `long transactions cannot be looked for: ${why}; ${decides}`;
    return [warningLine(name, text, "Look at SHOW SERVERS on its console.")];
  }
  const holders = probableHolders(samples.servers, databases);
  const seconds = `${Math.round(samples.spanMs / 100) / 10} s`;
  const text = `no connection stayed active through ${samples.servers.length} samples in ${seconds} (not provable)`;
  if (holders.length === 0) return [okLine(name, text)];
  const hint = "Wait until the transaction ends, or ask its owner to end it.";
  const named = holders.slice(0, namedMax).map((holder) => {
    const whose = `a connection of user ${holder.user ?? "unknown"} from ${clientOf(holder, samples.clients)}`;
    const held = `has been active for the whole ${seconds}: its transaction may hold the PAUSE; ${decides}`;
    return warningLine(`${name}/${holder.database ?? ""}`, `${whose} ${held}`, hint);
  });
  const more = holders.length - named.length;
  return more === 0
    ? named
    : [...named, warningLine(name, `${countText(more, "more connection")} stayed active all the time`, hint)];
}

/** The connections to servers that every sample shows active, with the same client and the same request. */
export function probableHolders(
  samples: readonly (readonly ShownConnection[])[],
  databases: readonly string[],
): readonly ShownConnection[] {
  const [first = [], ...later] = samples;
  const active = first.filter(
    ({ state, database, link }) =>
      state === "active" && link !== null && database !== null && databases.includes(database),
  );
  return later.reduce((held, sample) => {
    const byPointer = new Map(sample.map((connection) => [connection.pointer, connection]));
    return held.filter((one) => isSameRequest(one, byPointer.get(one.pointer)));
  }, active);
}

function isSameRequest(one: ShownConnection, other: ShownConnection | undefined): boolean {
  return other?.state === "active" && other.link === one.link && other.requestTime === one.requestTime;
}

/** Where a server's client is: its address, or its process at a Unix socket. */
function clientOf({ link }: ShownConnection, clients: readonly ShownConnection[]): string {
  const client = clients.find(({ pointer }) => pointer === link);
  if (client === undefined) return "a client that is gone";
  const { address, port, remotePid, applicationName } = client;
  const application = applicationName === null ? "" : ` (${applicationName})`;
  const isSocket = address === null || address.startsWith("unix");
  const process = remotePid === null || remotePid === 0 ? "a Unix socket" : `process ${remotePid}`;
  return `${isSocket ? process : `${address}:${port}`}${application}`;
}
