import type { EventDraft } from "../../core/events/cluster-event.ts";
import { listText } from "../../core/health/wording.ts";
import type { RepairedFile } from "./pgbouncer-balancer.ts";

/** Returns the events of a file that was put right: one for each cluster that its databases lead to. */
export function repairedEvents({ pooler, file, databases }: RepairedFile): readonly EventDraft[] {
  const clusters = new Set(databases.map(({ cluster }) => cluster));
  return [...clusters].map((cluster) => {
    const own = databases.filter((database) => database.cluster === cluster);
    const moved = own.flatMap(({ name, ledTo }) => (ledTo === null ? [] : [`${name} led to ${ledTo}`]));
    const effect = moved.length === 0 ? "PgBouncer had not read it" : listText(moved);
    return {
      kind: "pooler_file_repaired",
      severity: "warning",
      cluster,
      node: null,
      message: `something else than rolecall changed ${file} of pooler ${pooler}, and rolecall has put it right: ${effect}`,
      cause: null,
      figures: {
        pooler,
        file,
        databases: own
          .filter(({ ledTo }) => ledTo !== null)
          .map(({ name }) => name)
          .join(","),
      },
    };
  });
}
