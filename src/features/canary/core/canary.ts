/** What is known of a canary, and what its tries make of that. Pure. */
import { isOtherName, isUnknownAuthority } from "../../../core/cluster/values/tls-trouble.ts";
import type { Route } from "../../../core/health/route.ts";

/** What a canary tries: a write that is committed, or a read. */
export type CanaryKind = "write" | "read";

/**
 * What clients of a pool do, by the route of its check: /primary and /leader have the node that takes writes. A standby
 * cluster takes none.
 */
export function kindOf(route: Route, isStandbyCluster: boolean): CanaryKind {
  return !isStandbyCluster && (route === "primary" || route === "leader") ? "write" : "read";
}

/** The server that a try has reached, in its own words. */
export interface ReachedServer {
  /** `null`: a Unix socket. */
  readonly address: string | null;
  readonly port: number | null;
  readonly isInRecovery: boolean;
  /** `null`: the user may not call pg_control_system(). */
  readonly system: string | null;
}

/** Why a try has failed. */
export interface CanaryError {
  /** The SQLSTATE of the server, the code of the system, or a word of {@link ownCodes}. */
  readonly code: string;
  /** In the server's words, if it had some. Safe in a log. */
  readonly message: string;
}

/** What rolecall itself calls a failure that has no code. */
export const ownCodes = {
  /** No answer in time. */
  timeout: "timeout",
  /** The connection was closed without an error. */
  closed: "closed",
  /** The server belongs to another database system than the cluster's nodes. */
  otherDatabase: "other_database",
  /** The commit was confirmed with a warning: other servers may not have the data. */
  warned: "warned",
  /** The server asks for the password where somebody could read it. */
  clearPassword: "clear_password",
  /** The server asks for a password, and none is configured; or its file cannot be read. */
  noPassword: "no_password",
  /** A TLS file of the configuration cannot be read. */
  tlsFile: "tls_file",
  /** What answers is no server of PostgreSQL, or has no TLS. */
  protocol: "protocol",
} as const;

/** What one try came to. `own_failure`: this machine or process itself failed, which says nothing of the server. */
export type TryOutcome =
  | { readonly kind: "passed"; readonly tookMs: number; readonly server: ReachedServer; readonly ageMs: number | null }
  | {
      readonly kind: "failed";
      readonly tookMs: number;
      readonly server: ReachedServer | null;
      readonly error: CanaryError;
    }
  | { readonly kind: "own_failure" };

interface Tried {
  /** When the last try began, in ms of rolecall's clock. */
  readonly triedAtMs: number;
  readonly tookMs: number;
  /** The node whose database answered; `null`: not known. */
  readonly node: string | null;
}

/** What is known of a canary. */
export type CanaryState =
  | { readonly phase: "pending" }
  | (Tried & { readonly phase: "passed"; readonly server: ReachedServer; readonly ageMs: number | null })
  | (Tried & {
      readonly phase: "failed";
      readonly server: ReachedServer | null;
      readonly error: CanaryError;
      /** When the first of the tries began that have failed in a row, in ms of rolecall's clock. */
      readonly failingSinceMs: number;
      /** How many have failed in a row. */
      readonly tries: number;
    });

/** How many tries in a row have to fail before that is a condition of the cluster. */
const failuresMin = 2;

/** What is known after a try. @param triedAtMs when it began, in ms of rolecall's clock */
export function afterTry(
  before: CanaryState,
  outcome: TryOutcome,
  { triedAtMs, node }: Pick<Tried, "triedAtMs" | "node">,
): CanaryState {
  if (outcome.kind === "own_failure") return before;
  const { tookMs } = outcome;
  const tried = { triedAtMs, tookMs, node };
  if (outcome.kind === "passed") return { ...tried, phase: "passed", server: outcome.server, ageMs: outcome.ageMs };
  const { server, error } = outcome;
  const isFirst = before.phase !== "failed";
  return {
    ...tried,
    phase: "failed",
    server,
    error,
    failingSinceMs: isFirst ? triedAtMs : before.failingSinceMs,
    tries: isFirst ? 1 : before.tries + 1,
  };
}

/** Whether so many tries have failed that clients are not served; one alone may be chance. */
export function isFailing(state: CanaryState): state is Extract<CanaryState, { phase: "failed" }> {
  return state.phase === "failed" && (state.tries >= failuresMin || state.error.code === ownCodes.otherDatabase);
}

/** Whether it has reached a server of another database system. */
export function isElsewhere(state: CanaryState): boolean {
  return state.phase === "failed" && state.error.code === ownCodes.otherDatabase;
}

/**
 * Whether the canary itself cannot try: it lacks its table, or its own user, password or files are refused. That says
 * nothing of other clients. But where pg_hba.conf lets in no more what it let in before, others are refused as well.
 */
export function isUnfit({ state, passedAtMs }: Pick<KnownCanary, "state" | "passedAtMs">): boolean {
  if (state.phase !== "failed") return false;
  const { code } = state.error;
  if (isOfHba(state.error) && passedAtMs !== null) return false;
  return code.startsWith("28") || isUnknownAuthority(code) || isOtherName(code) || faultsOfItsOwn.has(code);
}

/** Whether pg_hba.conf refuses a client. The name of the file is in the message of each language. */
export function isOfHba({ code, message }: CanaryError): boolean {
  return code === "28000" && message.includes("pg_hba.conf");
}

/** `undefined_table`, `insufficient_privilege`, and what rolecall lacks or may not send. */
const faultsOfItsOwn: ReadonlySet<string> = new Set([
  "42P01",
  "42501",
  ownCodes.clearPassword,
  ownCodes.noPassword,
  ownCodes.tlsFile,
]);

/** A canary, and what is known of it. */
export interface KnownCanary {
  readonly cluster: string;
  readonly pool: string;
  /** Where it connects: `lb:5000/app`. */
  readonly target: string;
  readonly user: string;
  readonly kind: CanaryKind;
  readonly intervalMs: number;
  /** Whether the pool has other canaries. */
  readonly isOneOfSeveral: boolean;
  readonly state: CanaryState;
  /** When the last try began that has passed, in ms of rolecall's clock; `null`: none has. */
  readonly passedAtMs: number | null;
}
