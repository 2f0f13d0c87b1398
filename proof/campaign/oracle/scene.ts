import type { Profile } from "../profile.ts";
import type { Said } from "../rolecall/asker.ts";
import type { Stalls } from "../rolecall/stalls.ts";
import type { Document } from "../world/documents.ts";
import type { World } from "../world/world.ts";
import type { Evidence } from "../wire/evidence.ts";
import type { Served } from "../wire/served.ts";
import type { Seat } from "../wire/seat.ts";
import type { Troubles } from "./troubles.ts";

/** All inputs of the oracle: the truth, the nodes' requests and responses, and the delays of the machine. */
export interface Scene {
  readonly cluster: string;
  readonly isDiscovered: boolean;
  readonly world: World;
  readonly seats: readonly Seat[];
  readonly evidence: Evidence;
  readonly profile: Profile;
  readonly troubles: Troubles;
  /** The guard `survive`, in ms; 0: off. */
  readonly surviveMs: number;
  readonly stalls: Stalls;
  /** How often a promise applied: the answer had to be this one, and could have been another. */
  readonly armed: Map<string, number>;
  /** When rolecall last read in the DCS that a node no longer is the leader, in ms; filled by a simulation alone. */
  readonly replacedMs: Map<string, number>;
  /**
   * Until when the DCS named a node as the leader, by what rolecall has read, in ms: Infinity for the one that it names
   * now. Filled by a simulation alone; a restart leaves it as it is.
   */
  readonly namedUntilMs: Map<string, number>;
}

/** The true state is recorded at least this often, in ms: what was so at the last record may still be so. */
export const modelStepMs = 150;

/** A broken promise. */
export interface Violation {
  readonly rule: string;
  readonly node: string | null;
  readonly detail: string;
}

/** A promise about one answer: what is wrong with it, or null. */
export type Rule = (scene: Scene, answer: Said) => string | null;

/** Counts a promise that applies to an answer. Makes the detail, and gives it, only if the promise is broken. */
export function held({ armed }: Scene, rule: string, isBroken: boolean, detail: () => string): string | null {
  countHeld(armed, rule);
  return isBroken ? detail() : null;
}

/** Counts that a promise had to hold. */
export function countHeld(armed: Map<string, number>, rule: string): void {
  armed.set(rule, (armed.get(rule) ?? 0) + 1);
}

/** The tolerated delay of an observation: ordinary scheduling, and the stalls since an instant. */
export function slackMs({ profile, stalls }: Scene, fromMs: number, toMs: number): number {
  return profile.slackMs + 2 * stalls.within(fromMs - 500, toMs + 100);
}

/** Seconds ago, for people. */
export function ago(answer: Pick<Said, "askedMs">, atMs: number): string {
  return `${((answer.askedMs - atMs) / 1_000).toFixed(2)} s ago`;
}

/** The parts of each check that was asked so far: a campaign asks few different ones. */
const partsOf = new Map<string, { readonly route: string; readonly parameters: ReadonlyMap<string, string> }>();

function partsOfCheck(check: string): { readonly route: string; readonly parameters: ReadonlyMap<string, string> } {
  let parts = partsOf.get(check);
  if (parts === undefined) {
    const [route = check, query = ""] = check.split("?");
    parts = { route, parameters: new Map(new URLSearchParams(query)) };
    partsOf.set(check, parts);
  }
  return parts;
}

/** A check without its parameters. */
export function routeOf(check: string): string {
  return partsOfCheck(check).route;
}

/** A parameter of a check. */
export function parameterOf(check: string, name: string): string | null {
  return partsOfCheck(check).parameters.get(name) ?? null;
}

/** The route that the leader is fit for: the leader of a standby cluster is not a primary. */
export function leaderRoute({ world }: Scene): string {
  return world.isStandby ? "/standby-leader" : "/primary";
}

/** Whether a status document allows its node to be fit for a route of the leader (rule 3). */
export function allowsLeader(document: Document | null, route: string): boolean {
  if (document === null) return false;
  const { role, state } = document;
  // A node that is about to follow the primary elsewhere says replica.
  if (route === "/standby-leader") return role === "standby_leader" || role === "replica";
  if (role === "replica" || role === "demoted" || role === "standby_leader") return false;
  return !["stopping", "stopped", "starting", "crashed", "start failed"].includes(String(state));
}

/** A short form of a request and its answer, for people. */
export function tell(served: Served | undefined, answer: Said): string {
  if (served === undefined) return "none";
  const { status, path, arrivedMs, doneMs, document } = served;
  const fields = document === null ? "" : JSON.stringify(document).slice(0, 400);
  return `${path} asked ${ago(answer, arrivedMs)}, ${doneMs === null ? "no answer" : `${status} ${ago(answer, doneMs)}`} ${fields}`;
}
