import type { Snapshot } from "../../core/cluster/snapshot.ts";
import { isBlindEverywhere } from "../../core/health/evidence/node/blindness.ts";
import type { ListenerConfig } from "../../core/config/model/config.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import type { AnswerCounter } from "../../core/http/message/answer-counter.ts";
import type { JudgeInputs } from "../../core/http/node-api/answer.ts";
import type { NodeApiContext, OnAnswer } from "../../core/http/node-api/node-api.ts";
import type { Clock } from "../../core/state/clock.ts";
import type { Store } from "../../core/state/store.ts";
import type { Phase } from "../../core/workers/messages.ts";

/** The state of a process that answers. A worker's store and clock may be replaced while it runs. */
export interface AnsweringProcess {
  readonly store: () => Store;
  readonly clock: () => Clock;
  readonly phase: () => Phase;
  readonly counter: AnswerCounter;
  readonly portOf: AnswerSources["portOf"];
  /** Whether this process does not get its evidence in time, and has not for so long that it counts as gone (rule 16). */
  readonly lateness: () => { readonly isLate: boolean; readonly isWithdrawn: boolean };
}

/** What handlers answer from: the same in the main process and in a worker. */
export interface AnswerSources {
  readonly inputs: () => JudgeInputs;
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /**
   * The present instant, in ms of rolecall's clock. Looks for a clock gap first, so the first request after a suspend
   * is answered with the right ages.
   */
  readonly now: () => number;
  /** Why this process should not get traffic, or `null`. */
  readonly unready: () => string | null;
  /** Whether other instances have to take the place of this process, because it has been late for too long. */
  readonly isWithdrawn: () => boolean;
  readonly onAnswer: OnAnswer;
  readonly onCheck: NonNullable<NodeApiContext["onCheck"]>;
  /** The port that a listener is bound to; 0 if this process does not know it. */
  readonly portOf: (listener: ListenerConfig) => number;
}

/** The answer sources of a process. */
export function answerSourcesOf({ store, clock, phase, counter, portOf, lateness }: AnsweringProcess): AnswerSources {
  const snapshot = (): Snapshot => store().current;
  const policy = (cluster: string): HealthPolicy | undefined => store().policyOf(cluster);
  const now = (): number => clock().observe();
  const unready = (): string | null => {
    if (phase() !== "serving") return phase();
    if (lateness().isLate) return "late_here";
    return isBlindEverywhere(store(), now()) ? "blind" : null;
  };
  return {
    inputs: () => ({ snapshot: snapshot(), policy, nowMs: now(), unready }),
    snapshot,
    policy,
    now,
    unready,
    isWithdrawn: () => lateness().isWithdrawn,
    onAnswer: (route, status, sender) => {
      counter.count(route, status);
      if (sender !== undefined) counter.servers.count(sender, route, status);
    },
    onCheck: ({ target, check }, isNamed) => {
      counter.limits.note(target.cluster, check);
      counter.nodes.note(target.cluster, target.node, isNamed);
    },
    portOf,
  };
}
