import type { Config } from "../../../core/config/model/config.ts";
import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import type { KnownServer } from "../preflight/pooler-setup.ts";
import type { RestartRequest } from "../machine/plan.ts";
import type { Supervisor } from "../../../core/program/supervisor.ts";

/** A seamless switchover that is asked for, and what the process has for it. */
export interface PreflightInput {
  readonly cluster: string;
  /** The node that the caller takes for the leader; `null`: whichever leads. */
  readonly leader: string | null;
  /** The node that should lead; `null`: the cluster elects one. */
  readonly candidate: string | null;
  /** What is restarted, and `leader` names the node; `null`: a switchover is asked for. */
  readonly restart: RestartRequest | null;
  readonly config: Pick<Config, "poolers" | "stateFile" | "peers">;
  /** This process, as its peers know it, and the number that its next run of the cluster has. */
  readonly self: { readonly instance: string; readonly name: string; readonly generation: number };
  /** Whether poolers may be paused that no peer reaches (`--unguarded`). Then no peer is asked. */
  readonly isUnguarded: boolean;
  readonly supervisor: Supervisor;
  /** The Envoys that lead to the primary and are not waited for, by the listener that anybody may reach. */
  readonly uncounted: readonly { readonly listener: string; readonly envoys: number }[];
  /** How long clients may be held at most, in ms. */
  readonly deadlineMs: number;
  /** For how long balancers are waited for that rolecall cannot read, in ms; 0: there are none. */
  readonly routeWaitMs: number;
  /** How long clients were held in the switchovers of this cluster that rolecall has seen, in ms, oldest first. */
  readonly heldMs: readonly number[];
}

/** Where the evidence comes from. Both are read after the consoles: as late as possible. */
export interface PreflightSources {
  /** The evidence of the cluster now; `null` if it is not monitored. */
  readonly view: () => ClusterView | null;
  /** The nodes of all clusters whose database addresses are known. */
  readonly servers: () => readonly KnownServer[];
}
