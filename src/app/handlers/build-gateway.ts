import { logManagementCall } from "../logs/audit-log.ts";
import type { EventLog } from "../../events/event-log.ts";
import type { Logger } from "../../log/logger.ts";
import { Gateway, type GatewayContext } from "../../gateway/gateway.ts";
import type { NodeCredentialStore } from "../../gateway/node-credentials.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { AnswerSources } from "./answer-sources.ts";

/** What management calls are forwarded with. */
export interface GatewayParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly monitor: {
    readonly clock: { wall(): number };
    /** Probes every node of the cluster now. */
    probeNow(cluster: string): void;
    readonly proofs: { readonly isOwn: GatewayContext["isOwnAddress"] };
    readonly eventLog: Pick<EventLog, "recordCall">;
  };
  readonly credentials: NodeCredentialStore;
  readonly seamless: GatewayContext["seamless"];
}

/** Builds the gateway of this process: each call is logged and counted. */
export function buildGateway(
  { snapshot, policy, now }: AnswerSources,
  { log, metrics, monitor, credentials, seamless }: GatewayParts,
): Gateway {
  return new Gateway({
    snapshot,
    policy,
    now,
    wall: () => monitor.clock.wall(),
    credentials: (cluster) => credentials.get(cluster),
    isOwnAddress: (cluster, node) => monitor.proofs.isOwn(cluster, node),
    probeNow: (cluster) => monitor.probeNow(cluster),
    announceChange: (change) => monitor.eventLog.recordCall(change),
    seamless,
    onCall: (record) => {
      const { cluster, call, method, status, durationMs } = record;
      metrics.own.observe("managementCalls", { cluster, call, method, status: String(status) }, durationMs);
      logManagementCall(log, record);
    },
  });
}
