import type { Feature, Opened } from "../../feature/feature.ts";

/** PgBouncers whose databases follow the verdicts, by files that they include (docs/poolers.md). */
export const pgbouncer: Feature<Opened> = {
  name: "pgbouncer",
  isUsed: ({ poolers }) => poolers.length > 0,
  load: async () => (await import("./open-pgbouncer.ts")).openPgbouncer,
};
