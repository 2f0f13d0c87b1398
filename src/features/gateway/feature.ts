import type { Feature } from "../../core/feature/feature.ts";
import type { RunningGateway } from "./open-gateway.ts";
import { answerRestart, answerSwitchover } from "./switchover-api.ts";

/** Management calls, and what only nodes can answer, forwarded to the right node (docs/management.md). */
export const gateway: Feature<RunningGateway> = {
  name: "gateway",
  isUsed: ({ listen }) => listen.some(({ dialect }) => dialect === "node" || dialect === "admin"),
  load: async () => (await import("./open-gateway.ts")).openGateway,
  clusterRoutes: { switchover: answerSwitchover, "nodes/{node}/restart": answerRestart },
};
