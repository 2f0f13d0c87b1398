import type { HoldAnswer } from "../cluster/hint.ts";
import type { OwnCallAnswer } from "../cluster/management-call.ts";
import type { JsonObject } from "../cluster/values/json.ts";
import type { Refusal } from "../health/calls/refusal.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import type { Caller } from "../http/message/caller.ts";

/** An answer of rolecall itself to a management call. */
export interface OwnAnswer {
  readonly status: number;
  readonly document: object;
  /** The code of a refusal; `null` if the call was accepted. */
  readonly error: string | null;
}

/** Switchovers and restarts that rolecall itself carries out, while the clients of poolers wait. */
export interface SeamlessSwitchovers {
  /**
   * Answers the call for one: begins a run, and does not wait for it.
   * @param view the evidence of the cluster now
   * @param body that of the call, with `"seamless": true`
   */
  call(view: ClusterView, body: JsonObject, how: { readonly isDryRun: boolean; readonly caller: Caller }): OwnAnswer;
  /**
   * Answers the call for a restart of the database of a node: begins a run, and does not wait for it. Asks the poolers
   * first which databases lead to the node.
   * @param how the node, by its name in the configuration, and who calls
   */
  restart(
    view: ClusterView,
    body: JsonObject,
    how: { readonly node: string; readonly isDryRun: boolean; readonly caller: Caller },
  ): Promise<OwnAnswer>;
  /** Holds the clients of a cluster whose leader another program stops as soon as it has the answer. */
  announceStop(cluster: string, node: string, caller: Caller): Promise<HoldAnswer>;
  /** Whether poolers have a database of a cluster: without one nobody's clients would wait. */
  isPossible(cluster: string): boolean;
  /** The switchover of a cluster that goes on; `null` if there is none. */
  runningOf(cluster: string): string | null;
}

/** A switchover that rolecall itself requests, for somebody. */
export interface OwnSwitchover {
  readonly cluster: string;
  /** The names of members. */
  readonly leader: string;
  readonly candidate: string | null;
  readonly caller: Caller;
  /** The deadline for the answer, in ms. */
  readonly timeoutMs: number;
  /** Whether it may be sent, looked at when the connection to the node is open. */
  readonly mayStill: () => boolean;
}

/** A restart of the database of a node that rolecall itself requests, for somebody. */
export interface OwnRestart extends Pick<OwnSwitchover, "cluster" | "caller" | "timeoutMs" | "mayStill"> {
  /** Its name in the configuration. */
  readonly node: string;
}

/** What sends calls to the management API of nodes. */
export interface ManagementCalls {
  /**
   * Sends a switchover, after the checks of every call. Always resolves.
   * @returns a refusal, or the answer of the node
   */
  switchOver(switchover: OwnSwitchover): Promise<Refusal | OwnCallAnswer>;
  /** Sends a restart to the node, in the same way. */
  restart(restart: OwnRestart): Promise<Refusal | OwnCallAnswer>;
}
