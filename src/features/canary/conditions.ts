/** What canaries have found, as conditions. Free of Node. */
import {
  type Case,
  type Condition,
  type Found,
  oneCase,
  type ToldCluster,
} from "../../core/health/conditions/condition.ts";
import { isElsewhere, isFailing, isUnfit, type KnownCanary } from "./core/canary.ts";
import { canaryAction, errorText, maybeDatabase, roadText } from "./core/canary-text.ts";
import { canaryEnds } from "./event-kinds.ts";

type Kind = keyof typeof canaryEnds | (typeof canaryEnds)[keyof typeof canaryEnds];

/** Two tries are needed, or one interval of a new process. */
const found = { holds: null, isFoundLate: true, isEndKnown: () => true } as const;

/** Clients reach a database that is not the cluster's. */
export const canaryAstray = {
  id: "canary_astray",
  title: "clients reach another database",
  harm: "split",
  events: {
    begins: "canary_astray",
    ends: canaryEnds.canary_astray,
    severities: ["error"],
    endText: (cluster: string) => `the canaries of ${cluster} reach no other database any more`,
    ...found,
  },
  status: { tellCase: tellCanary },
  alerts: ["RolecallCanaryAstray"],
} as const satisfies Condition;

/** Clients of a write pool cannot write. */
export const canaryWriteFailed = {
  id: "canary_write_failed",
  title: "a write as clients make it fails",
  harm: "stuck",
  events: {
    begins: "canary_write_failed",
    ends: canaryEnds.canary_write_failed,
    severities: ["error"],
    endText: (cluster: string) => `the write canaries of ${cluster} commit again`,
    ...found,
  },
  status: { tellCase: tellCanary },
  alerts: ["RolecallCanaryWriteFails"],
} as const satisfies Condition;

/** Clients of a read pool cannot read. */
export const canaryReadFailed = {
  id: "canary_read_failed",
  title: "a read as clients make it fails",
  harm: "missing",
  events: {
    begins: "canary_read_failed",
    ends: canaryEnds.canary_read_failed,
    severities: ["error", "warning"],
    endText: (cluster: string) => `the read canaries of ${cluster} read again`,
    ...found,
  },
  status: { tellCase: tellCanary },
  alerts: ["RolecallCanaryReadFails"],
} as const satisfies Condition;

/** A canary cannot try: what clients get is not known from it. */
export const canaryUnfit = {
  id: "canary_unfit",
  title: "a canary cannot try",
  harm: "doubtful",
  events: {
    begins: "canary_unfit",
    ends: canaryEnds.canary_unfit,
    severities: ["warning"],
    endText: (cluster: string) => `the canaries of ${cluster} can try again`,
    ...found,
  },
  status: { tellCase: tellUnfit },
  alerts: ["RolecallCanaryUnfit"],
} as const satisfies Condition;

/** What the canaries of a cluster have found. */
export function canariesFound(canaries: readonly KnownCanary[]): readonly Found<Kind>[] {
  const known = canaries.filter(({ state }) => isFailing(state));
  const unfit = known.filter(({ state }) => isUnfit(state));
  const failing = known.filter(({ state }) => !isUnfit(state));
  const astray = failing.filter(({ state }) => isElsewhere(state));
  const others = failing.filter(({ state }) => !isElsewhere(state));
  const [writes, reads] = [others.filter(({ kind }) => kind === "write"), others.filter(({ kind }) => kind === "read")];
  const ways = new Set(writes.map(({ target }) => target));
  const isCommon =
    ways.size > 1 &&
    canaries.every((one) => one.kind !== "write" || (isFailing(one.state) && maybeDatabase(one.state.error)));
  const isLost = reads.some(({ pool }) =>
    canaries.every((one) => one.pool !== pool || one.kind !== "read" || isFailing(one.state)),
  );
  return [
    ...foundOf(canaryAstray, astray, { severity: "error", what: "clients reach another database" }),
    ...foundOf(canaryWriteFailed, writes, {
      severity: "error",
      what: "clients cannot write",
      action: isCommon ? everyWayFails : null,
    }),
    ...foundOf(canaryReadFailed, reads, { severity: isLost ? "error" : "warning", what: "clients cannot read" }),
    ...foundOf(canaryUnfit, unfit, { severity: "warning", what: "a canary cannot try" }),
  ];
}

/** What several ways have in common is the database, or a balancer that a pooler leads to. */
export const everyWayFails =
  "Clients of every way fail. Look at what the ways have in common: PostgreSQL of the primary, its log and its disk; and a " +
  "balancer, of which one without a usable server (down, or in maintenance) closes each connection. rolecall verify shows " +
  "its servers";

/** One case for all canaries of a kind. Of those whose error says most, the one is named that has failed the longest. */
function foundOf(
  condition: Condition<Kind>,
  failing: readonly KnownCanary[],
  {
    severity,
    what,
    action = null,
  }: Pick<Case, "severity"> & { readonly what: string; readonly action?: string | null },
): readonly Found<Kind>[] {
  const [worst] = failing.toSorted(
    (one, other) => vagueness(one) - vagueness(other) || failingSince(one) - failingSince(other),
  );
  if (worst === undefined || worst.state.phase !== "failed") return [];
  const { pool, target, state } = worst;
  const more = failing.length === 1 ? "" : ` (and ${failing.length - 1} more)`;
  const told = oneCase({
    severity,
    message: `${what} through ${roadText(worst)}: ${errorText(state.error)}${more}`,
    figures: {
      pool,
      target,
      code: state.error.code,
      canaries: failing.length,
      action: action ?? canaryAction(worst, state.error),
    },
    level: severity,
    sinceMs: Math.min(...failing.map(failingSince)),
    // What leads to the last primary finds a replica there.
    followsLoss: maybeDatabase(state.error) || state.error.code === "25006",
  });
  return [{ condition, found: told }];
}

/** How little an error says: a balancer says less than PostgreSQL, a pooler (class 08) only that something is behind it. */
function vagueness({ state }: KnownCanary): number {
  if (state.phase !== "failed") return Infinity;
  return state.error.code.startsWith("08") ? 2 : Number(maybeDatabase(state.error));
}

function failingSince({ state }: KnownCanary): number {
  return state.phase === "failed" ? state.failingSinceMs : Infinity;
}

/** What clients get, by the level of a case: its severity. */
function tellCanary({ level, message, sinceMs, figures: { action } }: Case): ToldCluster {
  const isError = level === "error";
  return {
    condition: isError ? "clients failing" : "warning",
    ...(isError ? {} : { harm: "missing" }),
    wrong: isError ? "clients fail" : "some clients fail",
    cause: message,
    sinceMs: sinceMs ?? null,
    next: null,
    action: typeof action === "string" ? action : null,
  };
}

function tellUnfit(one: Case): ToldCluster {
  return { ...tellCanary(one), harm: "doubtful", wrong: "a canary cannot try" };
}
