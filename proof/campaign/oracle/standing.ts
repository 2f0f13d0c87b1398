import type { Said } from "../rolecall/asker.ts";
import { leaderRoute, routeOf, type Scene } from "./scene.ts";

/** The node that rolecall itself took for the leader last, and since when. */
export interface Stood {
  readonly node: string;
  /** Its first yes of those that no other node's came between, in ms. */
  readonly sinceMs: number;
  /** Its last yes. */
  readonly lastMs: number;
}

/** Returns who stood last by a round of answers: the node with a yes on the route of the leader, or the one before. */
export function stoodLast(scene: Scene, answers: readonly Said[], before: Stood | null): Stood | null {
  const route = leaderRoute(scene);
  const yes = answers.find(({ status, check, node }) => status === 200 && node !== null && routeOf(check) === route);
  if (yes === undefined || yes.node === null) return before;
  const sinceMs = before?.node === yes.node ? before.sinceMs : yes.askedMs;
  return { node: yes.node, sinceMs, lastMs: yes.askedMs };
}
