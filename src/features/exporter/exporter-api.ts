import type { ListenerApi } from "../../core/feature/listener-api.ts";
import { exporterPageOf, isReload } from "./exporter-api-paths.ts";

/** Answers as a PostgreSQL exporter does, on listeners with the dialect exporter (docs/exporters.md, "As an API"). */
export const exporterApi: ListenerApi = {
  dialect: "exporter",
  changesState: ({ target }, { exporter }) => isReload(target, exporter.telemetryPath),
  pageOf: ({ target }, { exporter }) => exporterPageOf(target, exporter.telemetryPath),
  loadMemory: async () => (await import("./exporter-roles.ts")).answerRoles,
  loadRest: async () => (await import("./open-exporter-api.ts")).answerPages,
};
