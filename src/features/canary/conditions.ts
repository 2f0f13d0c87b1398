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

/** What is wrong, at the beginning of each message. */
const whats = {
  astray: "clients reach another database",
  write: "clients cannot write",
  read: "clients cannot read",
  unfit: "a canary cannot try",
} as const;

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
  status: { tellCase: tellOf(whats.astray) },
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
  status: { tellCase: tellOf(whats.write) },
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
  status: { tellCase: tellOf(whats.read) },
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
  status: { tellCase: (one) => ({ ...tellOf(whats.unfit)(one), harm: "doubtful" }) },
  alerts: ["RolecallCanaryUnfit"],
} as const satisfies Condition;

/** What the canaries of a cluster have found. */
export function canariesFound(canaries: readonly KnownCanary[]): readonly Found<Kind>[] {
  const known = canaries.filter(({ state }) => isFailing(state));
  const unfit = known.filter(isUnfit);
  const astray = known.filter(({ state }) => isElsewhere(state));
  const [writes, reads] = [failingTogether(canaries, "write"), failingTogether(canaries, "read")];
  const ways = new Set(writes.map(({ target }) => target));
  const isCommon =
    ways.size > 1 &&
    canaries.every(({ kind, state }) => kind !== "write" || (state.phase === "failed" && maybeDatabase(state.error)));
  const isLost = reads.some(({ pool }) =>
    canaries.every((one) => one.pool !== pool || one.kind !== "read" || isFailing(one.state)),
  );
  return [
    ...foundOf(canaryAstray, astray, { severity: "error", what: whats.astray }),
    ...foundOf(canaryWriteFailed, writes, {
      severity: "error",
      what: whats.write,
      action: isCommon ? everyWayFails : otherWay(writes, canaries),
    }),
    ...foundOf(canaryReadFailed, reads, { severity: isLost ? "error" : "warning", what: whats.read }),
    ...foundOf(canaryUnfit, unfit, { severity: "warning", what: whats.unfit }),
  ];
}

/**
 * The canaries of a kind that fail, once one of them does so for certain. A first failure of another is no chance then: what
 * it says counts at once, or people would be sent to the pooler for seconds when the balancer before it is at fault.
 */
function failingTogether(canaries: readonly KnownCanary[], kind: KnownCanary["kind"]): readonly KnownCanary[] {
  const failed = canaries.filter(
    (one) => one.kind === kind && one.state.phase === "failed" && !isUnfit(one) && !isElsewhere(one.state),
  );
  return failed.some(({ state }) => isFailing(state)) ? failed : [];
}

/** What is to do where clients of another way write: the database takes writes. `null`: it may be the database. */
function otherWay(failing: readonly KnownCanary[], canaries: readonly KnownCanary[]): string | null {
  const works = canaries.find(({ kind, state }) => kind === "write" && state.phase === "passed");
  const [first] = failing;
  const isClear = failing.every(({ state }) => state.phase === "failed" && maybeDatabase(state.error));
  if (works === undefined || first === undefined || !isClear) return null;
  return (
    `Look at the balancer or pooler at ${first.target}, its log and its servers: clients write through ${works.target}, so ` +
    "that the database takes writes"
  );
}

/** What several ways have in common is the database, or a balancer that a pooler leads to. */
export const everyWayFails =
  "Clients of every way fail. Look at what the ways have in common: PostgreSQL of the primary, its log and its disk; and a " +
  "balancer, of which one without a usable server (down, or in maintenance) closes each connection. rolecall status routes shows " +
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

/** What clients get, by the level of a case: its severity. @param what how its message begins, which says what is wrong */
function tellOf(what: string): (one: Case) => ToldCluster {
  return ({ level, message, sinceMs, figures: { action } }) => {
    const isError = level === "error";
    return {
      condition: isError ? "clients failing" : "warning",
      ...(isError ? {} : { harm: "missing" }),
      wrong: isError || what === whats.unfit ? what : `some ${what}`,
      cause: message.slice(what.length + 1),
      clause: message,
      sinceMs: sinceMs ?? null,
      next: null,
      action: typeof action === "string" ? action : null,
    };
  };
}
