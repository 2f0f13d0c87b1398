import { countText } from "../../health/wording.ts";
import { isObject, listOf } from "../../cluster/values/json.ts";
import { type KnownClusters, notAsked } from "../client/remembered-members.ts";
import { safe } from "../output/style.ts";
import type { DoctorContext } from "./doctor-context.ts";

/** Reports what the running rolecall follows and does not get (RC133). */
export async function diagnoseUpstreams(
  { command: { result } }: Pick<DoctorContext, "command">,
  known: KnownClusters,
): Promise<void> {
  const { server } = known;
  if (server === null) {
    result.cover("upstreams", "not_checked", { detail: notAsked(known) });
    return;
  }
  const upstreams = listOf((await server.getObject("/edges"))["upstreams"]).filter(isObject);
  for (const { url, state, problem, refused } of upstreams) {
    const name = safe(String(url));
    if (state !== "live")
      result.diagnose("RC133", { message: `${name}: ${safe(typeof problem === "string" ? problem : String(state))}` });
    for (const { message } of listOf(refused).filter(isObject))
      result.diagnose("RC133", { message: `${name}: ${safe(String(message))}` });
  }
  result.cover("upstreams", "complete", { detail: countText(upstreams.length, "upstream") });
}
