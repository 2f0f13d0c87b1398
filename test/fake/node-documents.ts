import { parseReport, type Report } from "../../src/core/cluster/documents/report.ts";

/** Fields of a node's status document. */
export type StatusFields = Readonly<Record<string, unknown>>;

/** The status document of a running node of cluster `demo`, version 4. `role` decides which positions it states. */
export function statusDocument(name: string, fields: StatusFields = {}): StatusFields {
  const isReplica = (fields["role"] ?? "replica") === "replica";
  return {
    state: "running",
    role: "replica",
    server_version: 150_000,
    timeline: 1,
    xlog: isReplica
      ? { received_location: 1000, replayed_location: 1000, replayed_timestamp: null, paused: false }
      : { location: 1000 },
    ...(isReplica ? { replication_state: "streaming" } : {}),
    database_system_identifier: "7000000000000000001",
    patroni: { version: "4.1.4", scope: "demo", name },
    ...fields,
  };
}

/** The same document as a parsed report. */
export function reportOf(name: string, fields: StatusFields = {}): Report {
  const report = parseReport(statusDocument(name, fields));
  if (report === undefined) throw new Error(`Cannot make a report from ${JSON.stringify(fields)}`);
  return report;
}

/** What a node of cluster `demo` knows when it answers a probe. */
export interface NodeKnowledge {
  readonly name: string;
  /** The holder of the lock; a name that no node has if nobody holds it. */
  readonly leader: string;
  /** Base address of each member's API, without a path, by name. */
  readonly members: ReadonlyMap<string, string>;
  /** The port on 127.0.0.1 of the database of each member whose address the list has. */
  readonly databases?: ReadonlyMap<string, number>;
  /** Fields of its status document that differ from a healthy node's. */
  readonly fields: StatusFields;
  /** The name of its cluster. Default: `demo`. */
  readonly scope?: string;
}

/** The answer to a probe. An answer without a document has an empty body. */
export interface ProbeAnswer {
  readonly status: number;
  readonly document?: unknown;
}

/** Answers the requests of rolecall's probers; `undefined` for any other path. */
export function answerProbe(
  { name, leader, members, databases, fields, scope = "demo" }: NodeKnowledge,
  path: string,
): ProbeAnswer | undefined {
  switch (path) {
    case "/leader": {
      const role = leader === name ? "primary" : "replica";
      return { status: leader === name ? 200 : 503, document: statusDocument(name, { role, ...fields }) };
    }
    case "/cluster": {
      const rows = [...members].map(([member, api]) => ({
        name: member,
        role: member === leader ? "leader" : "replica",
        state: "running",
        api_url: `${api}/patroni`,
        ...(databases?.has(member) === true ? { host: "127.0.0.1", port: databases.get(member) } : {}),
      }));
      return { status: 200, document: { scope, members: rows } };
    }
    case "/config":
      return { status: 200, document: { ttl: 30, loop_wait: 10, retry_timeout: 10 } };
    case "/history":
      return { status: 200, document: [] };
    case "/liveness":
      return { status: 200 };
    case "/failsafe":
      return { status: 502 };
    default:
      return undefined;
  }
}
