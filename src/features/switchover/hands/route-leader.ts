import type { SetTimer } from "../../../core/cluster/timer.ts";
import type { BackendCount } from "../../../core/http/message/server-census.ts";
import type { LeadTo } from "../../../core/balancing/balancer.ts";
import { checkedRouteName, type PlannedRoute } from "../machine/plan.ts";
import { checkedRoute } from "./checked-route.ts";

/** How it is known that a route leads to a node, or what is missing until it does. */
export type Led = "verified" | "waited" | { readonly missing: string };

/** What leading depends on. */
export interface RouteLeaderContext {
  readonly cluster: string;
  /** Makes sure that a balancer leads there. @returns `null` once it says so; else what is missing. Never rejects */
  readonly lead: (balancer: string, to: LeadTo, limitMs: number) => Promise<string | null>;
  /** The checks of each server that HAProxy names. */
  readonly checks: () => Promise<readonly BackendCount[]>;
  /** The names of the nodes of the cluster now. */
  readonly nodes: () => readonly string[];
  /** How long to wait where a route cannot be read, in ms. */
  readonly waitMs: number;
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

/** Of one attempt to lead a balancer to the new primary, in ms. */
const leadMs = 2_000;

/** Leads the routes of one run to a node, and reads back whether they lead there. */
export class RouteLeader {
  readonly #context: RouteLeaderContext;
  /** Since when routes have been led to a node, in ms of rolecall's clock. */
  readonly #sinceMs = new Map<string, number>();

  constructor(context: RouteLeaderContext) {
    this.#context = context;
  }

  /** Tries once. @param route of the plan; `undefined`: it has no such route */
  async lead(route: PlannedRoute | undefined, node: string): Promise<Led> {
    if (route === undefined) return { missing: "it is not known" };
    const { balancer, database } = route;
    const { cluster, lead, now } = this.#context;
    const sinceMs = this.#sinceMs.get(node) ?? now();
    this.#sinceMs.set(node, sinceMs);
    if (balancer === checkedRouteName) return this.#leadByChecks(node, sinceMs);
    const missing = await lead(balancer, { cluster, node, database }, leadMs);
    return missing === null ? "verified" : { missing };
  }

  /** The balancers check by themselves: looks what they have made of the answers. */
  async #leadByChecks(node: string, sinceMs: number): Promise<Led> {
    const { cluster, checks, nodes, now, setTimer, waitMs } = this.#context;
    const seen = checkedRoute(await checks(), { cluster, node, nodes: nodes() }, now() - sinceMs);
    if (seen === "leads") return "verified";
    if (seen === "elsewhere") return { missing: `balancers that check rolecall do not lead to ${node} yet` };
    await new Promise<void>((resolve) => void setTimer(resolve, waitMs));
    return "waited";
  }
}
