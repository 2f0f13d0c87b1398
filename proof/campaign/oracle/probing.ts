import { mayBeOutvoted } from "./reports.ts";
import { held, modelStepMs, routeOf, type Rule, slackMs, tell } from "./scene.ts";

/** A probe may run a tenth later than its schedule. */
const latest = 1.1;

/**
 * A node that answers within the timeout is asked again an interval after its last request, or once it has answered:
 * nothing else delays its next status probe (rule 8).
 */
export const isProbedInTime: Rule = (scene, answer) => {
  const { node, check, askedMs } = answer;
  if (node === null || routeOf(check) !== "/primary") return null;
  const { evidence, profile, troubles, stalls } = scene;
  const fromMs = askedMs - 2 * (profile.intervalMs * latest + profile.timeoutMs);
  const requests = evidence.since(node, "status", fromMs);
  const { slackMs: spareMs } = profile;
  for (const [at, request] of requests.entries()) {
    if (request.doneMs === null || !evidence.isSure(request)) continue;
    const dueMs = Math.max(request.arrivedMs + latest * profile.intervalMs, request.doneMs) + 2 * spareMs;
    const nextMs = requests[at + 1]?.arrivedMs ?? askedMs;
    if (nextMs <= dueMs) continue;
    // A request that does not reach the node leaves no trace. A node at another address starts anew. One that has lost
    // its address is asked there less often (rule 10).
    const isWhole =
      !mayBeOutvoted(scene, node, nextMs) &&
      troubles.isFree(node, request.arrivedMs - modelStepMs, "refused", "guest", "guestEver", "moved") &&
      stalls.within(request.arrivedMs - profile.timeoutMs, nextMs + slackMs(scene, nextMs, nextMs)) === 0;
    if (isWhole)
      return held(
        scene,
        "probed",
        true,
        () => `no status probe for ${Math.round(nextMs - request.arrivedMs)} ms after ${tell(request, answer)}`,
      );
  }
  if (requests.length > 1) held(scene, "probed", false, () => "");
  return null;
};
