import type { Feature } from "../../feature/feature.ts";
import type { RunningXds } from "./open-xds.ts";

/** Envoys that connect to listeners with the dialect xds, and are told which servers each pool has (docs/push.md). */
export const xds: Feature<RunningXds> = {
  name: "xds",
  isUsed: ({ listen }) => listen.some(({ dialect }) => dialect === "xds"),
  load: async () => (await import("./open-xds.ts")).openXds,
  dialects: { xds: { alpn: "h2", serve: (running, listener) => running.serve(listener) } },
};
