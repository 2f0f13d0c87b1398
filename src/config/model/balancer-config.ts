import type { DatabaseAddress } from "../../cluster/node.ts";
import type { WeightConfig } from "./weight-config.ts";
import type { Check } from "../../health/check.ts";

/** A balancer that rolecall sends changes of verdicts to. */
export interface BalancerConfig {
  /** Its name in metrics and logs. */
  readonly name: string;
  readonly haproxy: HaproxyConfig;
}

/** An HAProxy and its Runtime API. */
export interface HaproxyConfig {
  readonly socket: RuntimeAddress;
  /** Whether the sessions of a server are closed when its node is replaced as the primary. */
  readonly cutSessions: boolean;
  readonly backends: readonly HaproxyBackendConfig[];
}

/** Where the Runtime API of HAProxy is: a Unix socket, by its absolute path, or a TCP address. */
export type RuntimeAddress = { readonly path: string } | DatabaseAddress;

/** One backend, and the check that its servers are judged by. */
export interface HaproxyBackendConfig {
  /** Its name in the configuration of HAProxy. */
  readonly name: string;
  readonly cluster: string;
  readonly check: Check;
  /** Server name -> node name; `null`: each server has the name of its node. */
  readonly servers: Readonly<Record<string, string>> | null;
  /** How the weights of its servers follow their lag and warm-up; `null`: they stay as configured in HAProxy. */
  readonly weight: WeightConfig | null;
}
