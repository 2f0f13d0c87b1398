import type { HaproxyConfig, PgbouncerConfig } from "../config/model/config.ts";
import type { Logger } from "../log/logger.ts";
import type { PushCounter } from "./push-counter.ts";
import type { ServerChange } from "./server-change.ts";

/** What every balancer depends on. */
export interface BalancerContext {
  readonly log: Logger;
  /** Ms of rolecall's clock. */
  readonly now: () => number;
  /** What its servers should be now, by the last verdicts. */
  readonly current: () => readonly ServerChange[];
  readonly metrics: PushCounter;
}

/**
 * A balancer that changes of verdicts are sent to: HAProxy by its Runtime API, PgBouncer by a file that it
 * includes. A backend of PgBouncer is a database.
 */
export interface Balancer {
  /** Connects for the first time. To be called once. */
  start(): void;
  /** Sends changes. Does not wait and does not throw: what fails is tried again, and is in the status. */
  push(changes: readonly ServerChange[]): void;
  /**
   * Makes sure that the clients of a cluster's primary are led to this node, and reads it back. Never rejects.
   * @param limitMs for all of it
   * @returns `null` once the balancer itself says so; else what is missing
   */
  lead(to: LeadTo, limitMs: number): Promise<string | null>;
  /** What is known of it now. @param only the servers of this cluster, without the problems of others; `null`: all */
  status(only: string | null): BalancerStatus;
  /** Ends: sends nothing more. */
  stop(): void;
}

/** Where the clients of a cluster's primary are to be led. */
export interface LeadTo {
  readonly cluster: string;
  readonly node: string;
  /** Only those of this database of a pooler; `null`: all of the balancer. */
  readonly database: string | null;
}

/** What is known of a balancer, for people. */
export interface BalancerStatus {
  readonly balancer: string;
  readonly kind: "haproxy" | "pgbouncer" | "envoy" | "kubernetes";
  /** Where its API is; the address of a balancer that connects itself. */
  readonly socket: HaproxyConfig["socket"] | PgbouncerConfig["address"] | string;
  /** Whether the last exchange succeeded; `null` before the first one. */
  readonly up: boolean | null;
  readonly version: string | null;
  /** Servers with a change that was not applied yet. */
  readonly waiting: number;
  /** The age of the last change that the balancer applied, in ms; `null` if there was none. */
  readonly pushed_ms_ago: number | null;
  /** Of what several rolecalls may write: which one has; `null` if that is not known. */
  readonly published_by?: string | null;
  readonly problems: readonly { readonly subject: string; readonly problem: string }[];
  readonly servers: readonly Pick<ServerChange, "backend" | "server" | "target" | "weight">[];
}

/** Balancers that verdicts are sent to. */
export interface Balancers {
  /** What is known of each. @param only those of this cluster; `null`: all */
  readonly statuses: (only: string | null) => readonly BalancerStatus[];
  /** The names of those that lead clients to the primary of a cluster. */
  readonly leadingToPrimary: (cluster: string) => readonly string[];
  /**
   * Makes sure that one leads the clients of a cluster's primary to a node, as `Balancer.lead` does.
   * @returns `undefined` if there is no balancer of this name here
   */
  readonly lead: (balancer: string, to: LeadTo, limitMs: number) => Promise<string | null> | undefined;
  /** How many clients of each lead to the primary of a cluster, and are not waited for, because anybody may be one. */
  readonly uncounted: (cluster: string) => readonly { readonly listener: string; readonly envoys: number }[];
}

/** Why the clients of a balancer are not led that a reload has removed. */
export function notConfigured(balancer: string): string {
  return `${balancer} is not configured any more`;
}
