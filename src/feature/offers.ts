import type { BalancerStatus, LeadTo } from "../push/balancer.ts";
import { Offer } from "./offer.ts";

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

export const balancers: Offer<Balancers> = new Offer();

/** What an Envoy has not taken of a pool, or has refused. */
export interface LackingAcknowledgement {
  readonly envoy: string;
  readonly pool: string;
  readonly state: "waits" | "refused" | "has";
  /** Why it refuses, in its words; `null` if it does not. */
  readonly refusal: string | null;
}

/** What the Envoys of a listener lack, in rounds of work; the listener by its name. */
export type ReadAcknowledgements = (listener: string) => Iterable<readonly LackingAcknowledgement[]>;

export const envoyAcknowledgements: Offer<ReadAcknowledgements> = new Offer();
