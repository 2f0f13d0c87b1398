import type { Feature } from "../../core/feature/feature.ts";
import { auditTargets } from "../../core/feature/offers.ts";
import type { RunningXds } from "./open-xds.ts";

/** Sends the servers of each pool to the Envoys that connect to listeners with the dialect xds (docs/envoy.md). */
export const xds: Feature<RunningXds> = {
  name: "xds",
  isUsed: ({ listen }) => listen.some(({ dialect }) => dialect === "xds"),
  gives: [auditTargets],
  load: async () => (await import("./open-xds.ts")).openXds,
  dialects: { xds: { alpn: "h2", serve: (running, listener) => running.serve(listener) } },
};
