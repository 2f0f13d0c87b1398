import type { Feature, Opened } from "../../feature/feature.ts";
import { auditTargets } from "../../feature/offers.ts";

/** PgBouncers whose databases follow the verdicts, by files that they include (docs/poolers.md). */
export const pgbouncer: Feature<Opened> = {
  name: "pgbouncer",
  isUsed: ({ poolers }) => poolers.length > 0,
  gives: [auditTargets],
  load: async () => (await import("./open-pgbouncer.ts")).openPgbouncer,
};
