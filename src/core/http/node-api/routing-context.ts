import type { CheckRules } from "../../health/check.ts";
import type { ListenerScope } from "./target-node.ts";

/** What the routing of a node API listener depends on, in addition to the request. */
export interface RoutingContext {
  readonly scope: ListenerScope;
  readonly rules: CheckRules;
  /** The names of the companions of each cluster. Default: no cluster has any. */
  readonly companions?: ReadonlyMap<string, readonly string[]>;
  /** Whether management calls, and requests that only a node can answer, are passed through. */
  readonly passes: boolean;
  /** Whether `/status`, `/explain`, `/verdicts` and `/incident` are served. */
  readonly operatorPages: boolean;
}
