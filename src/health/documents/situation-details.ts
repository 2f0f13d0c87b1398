import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { AskedCheck } from "./asked-checks.ts";
import type { NodeOverview } from "./node-overview.ts";

/** What a situation depends on, besides the evidence. */
export interface SituationInputs {
  /** The nodes as the overview has them. */
  readonly nodes: readonly NodeOverview[];
  readonly asked: readonly AskedCheck[];
  /** The view's instant, in ms since the epoch. */
  readonly wallMs: number;
}

/** What depends on the condition. */
export interface Details {
  readonly wrong: string | null;
  readonly cause: string | null;
  readonly next: string | null;
  readonly action: string | null;
  /** In ms of rolecall's clock; `null` if it is not known. */
  readonly sinceMs: number | null;
}

export type Describe = (view: ClusterView, inputs: SituationInputs) => Details;

export const nothing: Details = { wrong: null, cause: null, sinceMs: null, next: null, action: null };
