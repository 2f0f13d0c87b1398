import type { Config } from "../../config/model/config.ts";
import type { Host, Opened } from "../../feature/feature.ts";
import { envoyAcknowledgements } from "../../feature/offers.ts";
import type { Scope } from "../../feature/scope.ts";
import { HostAddresses } from "../../push/host-addresses.ts";
import { auditTargets } from "./audit-targets.ts";
import type { AuditedTarget, RouteFinding } from "./core/route-finding.ts";
import { RouteAudit } from "./route-audit.ts";

/** The audit in a process. */
export interface RunningAudit extends Opened {
  /** What is known of each balancer and pooler that is looked at. */
  readonly targets: readonly AuditedTarget[];
  /** How often each is looked at, in ms. */
  readonly intervalMs: number;
  /** What was found that concerns a cluster, the worst first. */
  readonly findings: (cluster: string) => readonly RouteFinding[];
}

/** Looks at the targets of the configuration until the scope ends. */
export function openAudit(
  { now, cluster, policy, offers, changed, contained }: AuditHost,
  scope: Pick<Scope, "setTimer" | "hold" | "signal">,
): RunningAudit {
  const hosts = new HostAddresses(now);
  const audit = new RouteAudit({
    now,
    cluster,
    policy,
    scope,
    resolve: (host) => hosts.resolved(host),
    onChange: changed,
    onError: (target, error) => contained(error, { target }),
  });
  scope.hold("the looks", () => audit.stop());
  let intervalMs = 0;
  return {
    configure(config: Config) {
      ({ intervalMs } = config.audit);
      const targets = auditTargets(config, function* (listener) {
        for (const read of envoyAcknowledgements.in(offers)) yield* read(listener);
      });
      audit.configure(targets, intervalMs);
    },
    clusterChanged: (name) => audit.clusterChanged(name),
    findings: (name) => audit.findings(name),
    get targets() {
      return audit.targets;
    },
    get intervalMs() {
      return intervalMs;
    },
  };
}

/** What the audit needs of its host. */
type AuditHost = Pick<Host, "now" | "cluster" | "policy" | "offers" | "changed" | "contained">;
