import type { Host, Opened } from "../../core/feature/feature.ts";
import { managementCalls, passthroughs, seamlessSwitchovers } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { logManagementCall } from "./audit-log.ts";
import { Gateway } from "./gateway.ts";
import { NodeCredentialStore } from "./node-credentials.ts";

/** The open gateway. */
export interface RunningGateway extends Opened {
  readonly gateway: Gateway;
  /** Who may take over the lead of a cluster, and whether clients can wait meanwhile; `null`: it is not monitored. */
  switchoverOptions(cluster: string): object | null;
}

/** Opens the gateway: each call is logged and counted. */
export function openGateway(host: Host, scope: Scope): RunningGateway {
  const { log, metrics, offers, now } = host;
  const credentials = new NodeCredentialStore((cluster, problem) =>
    log[problem === null ? "info" : "error"]({ cluster, problem }, "files for calls to the nodes read"),
  );
  const seamless = (): ReturnType<typeof seamlessSwitchovers.in>[number] | null =>
    seamlessSwitchovers.in(offers)[0] ?? null;
  const gateway = new Gateway({
    snapshot: host.snapshot,
    policy: host.policy,
    now,
    wall: host.wall,
    credentials: (cluster) => credentials.get(cluster),
    isOwnAddress: host.isOwnAddress,
    probeNow: host.probeNow,
    announceChange: host.announceChange,
    seamless,
    onCall: (record) => {
      const { cluster, call, method, status, durationMs } = record;
      metrics.observe("managementCalls", { cluster, call, method, status: String(status) }, durationMs);
      logManagementCall(log, record);
    },
  });
  scope.hold("the files for calls to the nodes", () => credentials.stop());
  for (const takeBack of [passthroughs.bring(offers, gateway), managementCalls.bring(offers, gateway)])
    scope.hold("what is offered", takeBack);
  return {
    gateway,
    configure: ({ clusters }) => credentials.start(clusters),
    switchoverOptions: (cluster) => {
      const options = gateway.switchoverOptions(cluster);
      if (options === null) return null;
      const held = seamless();
      const running = held?.runningOf(options.cluster) ?? null;
      return { ...options, seamless: held?.isPossible(options.cluster) ?? false, running };
    },
  };
}
