import { held, type Rule, routeOf } from "./scene.ts";

/**
 * In a standby cluster nothing is writable: no node gets a yes as the primary before the cluster is promoted. Where a
 * server of another cluster answers at a node's address, nothing is promised.
 */
export const standbyHasNoPrimary: Rule = (scene, { node, status, check, askedMs }) => {
  const { world, troubles, profile } = scene;
  if (node === null || routeOf(check) !== "/primary" || !world.isStandby) return null;
  const isOwn = troubles.isFree(node, askedMs - profile.maxAgeMs - profile.timeoutMs, "guestEver", "moved");
  return isOwn ? held(scene, "standby", status === 200, () => "a yes as the primary in a standby cluster") : null;
};
