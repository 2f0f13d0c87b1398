import type { Withdrawal } from "../../../cluster/dcs.ts";
import type { ClaimLoss, RefusedClaim } from "../../../cluster/leadership.ts";

/** A node that claims the lock: a fresh 200 of `GET /leader`. */
export interface LockClaim {
  readonly node: string;
  /** When the request was sent that first saw the claim, in ms of rolecall's clock. */
  readonly appearedAtMs: number;
  readonly timeline: number | null;
  readonly isPaused: boolean;
  readonly isFailsafe: boolean;
  /** Whether the node can give a view. A node known through its exporter alone cannot. */
  readonly hasApi: boolean;
}

/** Whom a node's newest `/cluster` names as the leader. Instants in ms of rolecall's clock. */
export interface LeaderView {
  readonly witness: string;
  /** The leader's name, also if no node has it; `null` for nobody. */
  readonly names: string | null;
  /** That node's API address in the view; `null` if the view has none. */
  readonly namesAt: string | null;
  readonly requestedAtMs: number;
  readonly answeredAtMs: number;
  /** When the latest successive views of the witness that name the same were requested, this one last. */
  readonly repeatedAtMs: readonly number[];
}

/** A node's newest answers. They decide about views that name the node, and about views that contradict its claim. */
export interface NodeAnswers {
  /** When the probe of its newest report was sent, in ms of rolecall's clock; -Infinity if it never answered. */
  readonly reportedAtMs: number;
  /** Whether that report came with the lock. */
  readonly hasLock: boolean;
  /** Whether its newest status probe failed. */
  readonly isSilent: boolean;
  /** Whether its newest request for `/cluster` failed. */
  readonly isViewFailing: boolean;
  /** Whether its views count: it has an API and is correctly identified. */
  readonly canTestify: boolean;
  /**
   * Its probed API address, to compare with views; `null` if it may be reached at another address than it advertises.
   */
  readonly api: string | null;
}

/** Everything that decides who leads. */
export interface LeadershipInputs {
  /** The competing claims. */
  readonly claims: readonly LockClaim[];
  /** The newest view of each witness, unless it is too old to count. */
  readonly views: readonly LeaderView[];
  /** By node name. */
  readonly nodes: ReadonlyMap<string, NodeAnswers>;
  /** The claims that were lost before, by node name. */
  readonly lostClaims: ReadonlyMap<string, ClaimLoss>;
  /** The nodes whose yes the DCS withdraws. */
  readonly withdrawals: ReadonlyMap<string, Withdrawal>;
  /** The claims that must not stand because they were refused beside another one, by node name. */
  readonly refused: ReadonlyMap<string, RefusedClaim>;
  /** The last uncontested leader, kept while no node claims the lock. */
  readonly lastHolder: string | null;
  /** The node that breaks ties: see `Leadership`. */
  readonly incumbent: string | null;
  /** The probe interval, in ms. */
  readonly intervalMs: number;
}
