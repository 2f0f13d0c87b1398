import type { Feature, Opened } from "../../core/feature/feature.ts";
import { auditTargets } from "../../core/feature/offers.ts";

/** PgBouncers whose databases follow the verdicts, by files that they include (docs/poolers.md). */
export const pgbouncer: Feature<Opened> = {
  name: "pgbouncer",
  isUsed: ({ poolers }) => poolers.length > 0,
  gives: [auditTargets],
  load: async () => (await import("./open-pgbouncer.ts")).openPgbouncer,
};
