import { auditTarget, nothingSeen, type TargetMemory } from "../../../../src/features/audit/core/audit-target.ts";
import { type Allowance, type Allowances, nextAllowance } from "../../../../src/features/audit/core/allowance.ts";
import type { AuditedPool } from "../../../../src/core/balancing/audited/audit-target.ts";
import type { ServerReading, TargetReading } from "../../../../src/core/balancing/audited/reading.ts";
import { isReason } from "../../../../src/core/health/reason.ts";
import { fit, unfit, type Verdict } from "../../../../src/core/health/verdict.ts";

/** The pool of the tests: `be` of the cluster `c`. */
export const playedPool: AuditedPool = {
  backend: "be",
  cluster: "c",
  isOfPrimary: false,
  servers: null,
  lists: "all",
  hasOnlyMembers: true,
  keepsSessions: true,
};

/** A server that takes sessions. */
export function serverOf(server: string, parts: Partial<ServerReading> = {}): ServerReading {
  const counts = { sessions: 0, total: 0, newestAgoMs: null, unchangedMs: null, weight: 100, delayMs: 3_000 };
  const more = { endedBytes: null, failed: null, closed: null, isChecked: true };
  return { server, address: null, use: "takes", ...counts, ...more, ...parts };
}

/**
 * What rolecall says of a node: `new`, `kept REASON`, `none REASON` or `untold`.
 * @param before what it said at the instant before
 */
export function allowanceOf(text: string, before: Allowance | undefined, nowMs: number): Allowance {
  const [kind = "", reason = "wrong_role"] = text.split(" ");
  if (!isReason(reason)) throw new Error(`${reason} is no reason`);
  const verdict: Verdict = kind === "new" ? fit : kind === "untold" ? unfit("stale") : unfit(reason);
  return nextAllowance(before, { verdict, open: () => (kind === "none" ? unfit(reason) : fit) }, nowMs);
}

/** One target with one pool, which is looked at again and again. */
export class AuditPlay {
  readonly #pool: AuditedPool;
  readonly #members: ReadonlySet<string>;
  readonly #isComplete: boolean;
  #allowances: Allowances = new Map();
  memory: TargetMemory = nothingSeen;
  /** When to look again, in ms. */
  lookAgainMs = Infinity;

  constructor(pool: Partial<AuditedPool>, members: readonly string[], isComplete = true) {
    this.#pool = { ...playedPool, ...pool };
    this.#members = new Set(members);
    this.#isComplete = isComplete;
  }

  /** The verdicts change. Those of nodes that are left out stay. */
  judge(nowMs: number, may: Readonly<Record<string, string>>): void {
    const next = new Map(this.#allowances);
    for (const [node, text] of Object.entries(may)) next.set(node, allowanceOf(text, next.get(node), nowMs));
    this.#allowances = next;
  }

  /** Looks. @returns what is found now */
  look(
    nowMs: number,
    servers: readonly ServerReading[] | string,
    isShared = true,
    closed: string | null = null,
  ): readonly string[] {
    const reading: TargetReading =
      typeof servers === "string"
        ? { kind: "failed", problem: servers }
        : { kind: "read", pools: [{ backend: "be", servers, isShared, leadsTo: null, closed, notTaken: null }] };
    const { memory, lookAgainMs } = auditTarget(this.memory, reading, {
      nowMs,
      pools: [this.#pool],
      truthOf: () => ({
        isComplete: this.#isComplete,
        members: new Map(
          [...this.#members].map((node) => [
            node,
            { isExpected: true, isElectable: true, database: { host: node, port: 5432 } },
          ]),
        ),
        at: new Map([...this.#members].map((node) => [`${node}:5432`, [node]])),
        allowances: this.#allowances,
      }),
    });
    this.memory = memory;
    this.lookAgainMs = lookAgainMs;
    return memory.differences.map(
      ({ kind, server, node, isUnusable }) => `${kind} ${server ?? "-"} ${node ?? "-"}${isUnusable ? " unusable" : ""}`,
    );
  }
}
