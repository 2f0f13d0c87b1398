/** What is said of canaries, to people and in documents. Pure. */
import { isOtherName, isUnknownAuthority } from "../../../core/cluster/values/tls-trouble.ts";
import { spanText } from "../../../core/health/wording.ts";
import { type CanaryError, isOfHba, isUnfit, type KnownCanary, ownCodes } from "./canary.ts";

/** What a canary waits for, step by step, as it says when it waits in vain. */
export const waitTexts = {
  connect: "no connection",
  login: "connected, but no answer to the login",
  look: "logged in, but no answer to the first query (behind a pooler: no server for it)",
  write: "no answer to the write",
  read: "no answer to the read",
  commit: "no answer to the end of the transaction",
} as const;

/** The clocks of a document: the instant now, in ms of rolecall's clock, and in ms since the epoch. */
export interface DocumentInstant {
  readonly nowMs: number;
  readonly wallMs: number;
}

/** A canary as `/status` shows it. */
export interface CanaryDocument {
  readonly pool: string;
  readonly target: string;
  readonly kind: KnownCanary["kind"];
  readonly state: "pending" | "committed" | "read" | "failed";
  /** RFC 3339, of the beginning of the last try; `null` before the first. */
  readonly tried_at: string | null;
  readonly took_ms: number | null;
  /** The node whose database answered; `null`: not known. */
  readonly node: string | null;
  readonly server: {
    readonly address: string | null;
    readonly port: number | null;
    readonly in_recovery: boolean;
    readonly system_identifier: string | null;
  } | null;
  /** How old the newest row was that was read. */
  readonly age_ms: number | null;
  readonly error: CanaryError | null;
  /** Whether the canary itself cannot try: that says nothing of clients. */
  readonly unfit: boolean;
  /** RFC 3339, of the first of the tries that have failed in a row. */
  readonly failing_since: string | null;
  readonly interval_ms: number;
  /** The same in a sentence. */
  readonly text: string;
  /** What to do about a failure. */
  readonly action: string | null;
}

/** Describes a canary. */
export function canaryDocument(canary: KnownCanary, instant: DocumentInstant): CanaryDocument {
  const { pool, target, kind, intervalMs, state } = canary;
  const at = (ms: number): string => new Date(instant.wallMs - Math.max(0, instant.nowMs - ms)).toISOString();
  const server = state.phase === "pending" ? null : state.server;
  return {
    pool,
    target,
    kind,
    state: state.phase === "passed" ? (kind === "write" ? "committed" : "read") : state.phase,
    tried_at: state.phase === "pending" ? null : at(state.triedAtMs),
    took_ms: state.phase === "pending" ? null : state.tookMs,
    node: state.phase === "pending" ? null : state.node,
    server:
      server === null
        ? null
        : {
            address: server.address,
            port: server.port,
            in_recovery: server.isInRecovery,
            system_identifier: server.system,
          },
    age_ms: state.phase === "passed" ? state.ageMs : null,
    error: state.phase === "failed" ? state.error : null,
    unfit: isUnfit(canary),
    failing_since: state.phase === "failed" ? at(state.failingSinceMs) : null,
    interval_ms: intervalMs,
    text: canaryText(canary, instant.nowMs),
    action: state.phase === "failed" ? canaryAction(canary, state.error) : null,
  };
}

/** What the last try came to: `tried 3.0 s ago through orders-write: committed on pg2 in 4 ms`. */
export function canaryText(canary: KnownCanary, nowMs: number): string {
  const { state, kind } = canary;
  const road = roadText(canary);
  if (state.phase === "pending") return `not tried yet through ${road}`;
  const tried = `tried ${spanText(nowMs - state.triedAtMs)} ago through ${road}`;
  if (state.phase === "failed") {
    const where = placeText(canary);
    const failed = `${where === null ? "" : `on ${where}: `}${errorText(state.error)}`;
    return `${tried}: ${failed}, for ${spanText(nowMs - state.failingSinceMs)}`;
  }
  const what = kind === "write" ? "committed" : "read";
  const on = `on ${placeText(canary) ?? "a server whose address is not known"}`;
  const age =
    kind === "write"
      ? ""
      : state.ageMs === null
        ? ", no row in the table"
        : `, a row of ${spanText(state.ageMs)} before`;
  return `${tried}: ${what} ${on} in ${state.tookMs} ms${age}`;
}

/** What a situation says of the last try, which names the error of one that has failed itself. */
export function triedText(canary: KnownCanary, nowMs: number): string {
  return canary.state.phase === "failed"
    ? `tried ${spanText(nowMs - canary.state.triedAtMs)} ago through ${roadText(canary)}, in vain`
    : canaryText(canary, nowMs);
}

/** The way that a canary goes: its pool, and the address if the pool has several canaries. */
export function roadText({
  pool,
  target,
  isOneOfSeveral,
}: Pick<KnownCanary, "pool" | "target" | "isOneOfSeveral">): string {
  return isOneOfSeveral ? `${pool} at ${target}` : pool;
}

/** An error with its code, unless the message says it. */
export function errorText({ code, message }: CanaryError): string {
  const isWorded = Object.values<string>(ownCodes).includes(code);
  return isWorded ? message : `${code} ${message}`;
}

/** The node that answered, else the address of the server; `null`: neither is known. */
function placeText({ state }: KnownCanary): string | null {
  if (state.phase === "pending" || state.server === null) return null;
  const { address, port } = state.server;
  if (state.node !== null) return state.node;
  return address === null ? null : `${address.includes(":") ? `[${address}]` : address}:${port ?? "?"}`;
}

/**
 * Whether a balancer or pooler fails in this way before a database that does not serve: neither refuses its own clients,
 * nor is it in the server's words.
 */
export function maybeDatabase({ code, message }: CanaryError): boolean {
  if (code === ownCodes.timeout) return !/commit/.test(message);
  return code === ownCodes.closed || code === "08P01" || code.startsWith("57P");
}

/** What to do about a failure. A whole clause without a full stop. */
export function canaryAction({ kind, target, user }: KnownCanary, { code, message }: CanaryError): string {
  if (code === ownCodes.timeout && /commit/.test(message))
    return (
      "Look at the synchronous standby: commits wait until it confirms, or until Patroni replaces it, within its ttl; with " +
      "synchronous_mode_strict until a standby is back. Do not end the waiting sessions before you know which standbys have " +
      "the data"
    );
  if (isOfHba({ code, message }))
    return `Look at pg_hba.conf of the server behind ${target}, and at who changed it: clients may be refused in the same way`;
  const late = code === ownCodes.timeout ? lateActions.find(([said]) => message.includes(said))?.[1] : undefined;
  if (isUnknownAuthority(code))
    return `Give the canary the authority that signed the certificate of ${target}: ca in its tls. Clients that verify it need the same`;
  if (isOtherName(code))
    return `Set server_name in tls of the canary to a name that the certificate of ${target} has, or issue one for this address`;
  const known = late ?? actionsByCode.get(code);
  if (known !== undefined) return known({ target, user });
  const classText = actionsByClass.find(([prefix]) => /^[0-9A-Z]{5}$/.test(code) && code.startsWith(prefix))?.[1];
  return classText ?? `Connect as ${user} to ${target} as clients do, and ${kind === "write" ? "write" : "read"}`;
}

type Action = (canary: Pick<KnownCanary, "target" | "user">) => string;

const lookAtRoad: Action = ({ target }) => `Look at the network and firewalls between rolecall and ${target}`;
const lookAtTarget: Action = ({ target }) => `Look at what listens at ${target}: the balancer or pooler, and its log`;

/** What to do about an error, by its code. */
export const actionsByCode: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["ECONNREFUSED", lookAtTarget],
  ["ECONNRESET", lookAtTarget],
  ["ENOENT", lookAtTarget],
  ["EHOSTUNREACH", lookAtRoad],
  ["ENETUNREACH", lookAtRoad],
  ["ETIMEDOUT", lookAtRoad],
  ["ENOTFOUND", ({ target }) => `Correct the host in url, or the name server: ${target} has a name that is not found`],
  [
    "CERT_HAS_EXPIRED",
    ({ target }) =>
      `Renew the certificate of ${target}, and reload what listens there: clients that verify it fail, too`,
  ],
  [
    ownCodes.timeout,
    ({ target }) =>
      `Look at what listens at ${target}, and at the database behind it: one of them accepts, and does not answer`,
  ],
  [
    ownCodes.protocol,
    ({ target }) => `Look at what listens at ${target}, and at the canary's tls: both have to speak the same`,
  ],
  [
    ownCodes.closed,
    ({ target }) =>
      `Look at the servers of the balancer at ${target}: one without a usable server (down, or in maintenance) closes ` +
      "each connection. rolecall status routes shows them",
  ],
  [
    ownCodes.otherDatabase,
    ({ target }) =>
      `Look at once at the servers behind ${target}: clients that come this way write to, or read from, another database`,
  ],
  [
    "25006",
    ({ target }) =>
      `Look at the servers of the balancer or pooler at ${target}: it leads writes to a replica. rolecall status routes shows them`,
  ],
  [
    "28P01",
    ({ user }) =>
      `Compare password_file of the canary with the password of ${user}. Clients with another user may be served`,
  ],
  ["42P01", ({ user }) => `As the owner of the database, run what this prints: rolecall canaries --sql ${user}`],
  ["42501", ({ user }) => `As the owner of the database, run what this prints: rolecall canaries --sql ${user}`],
  [
    "53100",
    () =>
      "Find what fills the volume of the database (tables, logs, or WAL that a slot or a failing archive holds), and free " +
      "space there. Never delete files of pg_wal, and drop no slot of a standby",
  ],
  [
    "53300",
    () =>
      "Find what holds the connections (pg_stat_activity), and end idle ones. A pooler before the database bounds them",
  ],
  ["55P03", () => "Find who holds the lock on table rolecall_canary (pg_locks): an earlier commit may still wait"],
  ["57014", () => "Find what the server waits for (pg_stat_activity, wait_event)"],
  [ownCodes.warned, () => "Look at the synchronous standbys: the data is on the primary, and maybe nowhere else"],
  [ownCodes.clearPassword, () => "Set tls of the canary, or scram-sha-256 in pg_hba.conf"],
  [ownCodes.noPassword, () => "Set password_file of the canary to a file that rolecall can read"],
  [ownCodes.tlsFile, () => "Correct the files in tls of the canary"],
]);

/** What to do about a timeout, by what was waited for in vain ({@link waitTexts}). */
export const lateActions: readonly (readonly [said: string, action: Action])[] = [
  [
    waitTexts.connect,
    ({ target }) => `Look at the host of ${target} and at the network to it: nothing there answers a connection`,
  ],
  [
    waitTexts.login,
    ({ target }) =>
      `Look at what listens at ${target}: it accepts connections and answers none, as a balancer or pooler that hangs ` +
      "does, or one whose database hangs",
  ],
  [
    waitTexts.look,
    ({ target }) =>
      `Look at the pooler at ${target} (SHOW DATABASES: is one paused? SHOW POOLS: who waits?), then at the database ` +
      "behind it",
  ],
  [waitTexts.write, () => "Find what the server waits for (pg_stat_activity, wait_event), and look at its disk"],
  [waitTexts.read, () => "Find what the server waits for (pg_stat_activity, wait_event), and look at its disk"],
];

/** What to do about an error of a class of SQLSTATE, by its beginning. */
export const actionsByClass: readonly (readonly [prefix: string, action: string])[] = [
  ["28", "Look at pg_hba.conf, at the password and at the user: clients may be refused in the same way"],
  ["3D", "Look at the name of the database in url, and at the databases of the pooler"],
  ["57P", "Look at the log of the database: it starts, stops or recovers"],
  ["08", "Look at the pooler and at the database behind it"],
  ["53", "Look at the resources of the database: connections, memory, disk"],
];
