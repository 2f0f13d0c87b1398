import { type AuditTarget, routePrograms } from "../../core/balancing/audited/audit-target.ts";
import type { Config } from "../../core/config/model/config.ts";
import type { Host, Opened } from "../../core/feature/feature.ts";
import { auditTargets, pushedEnvoyDelays } from "../../core/feature/offers.ts";
import type { Scope } from "../../core/feature/scope.ts";
import { HostAddresses } from "../../core/balancing/host-addresses.ts";
import { envoyTargets } from "./envoy-targets.ts";
import type { AuditedTarget, RouteFinding } from "./core/route-finding.ts";
import { type NamedCheck, poolOf } from "./pool-names.ts";
import { RouteAudit } from "./route-audit.ts";

/** The audit in a process. */
export interface RunningAudit extends Opened {
  /** What is known of each balancer and pooler that is looked at. */
  readonly targets: readonly AuditedTarget[];
  /** How often each is looked at, in ms. */
  readonly intervalMs: number;
  /** What was found that concerns a cluster, the worst first. */
  readonly findings: (cluster: string) => readonly RouteFinding[];
  /** The pool that a backend, database or Envoy cluster of a target stands for; `null`: it is not known. */
  readonly poolOf: (target: string, backend: string) => NamedCheck | null;
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
  let inForce: Config | null = null;
  const follow = (): void => {
    if (inForce === null) return;
    const config = inForce;
    const brought = auditTargets.in(offers).flatMap((targetsOf) => targetsOf(config));
    const pushedDelays = pushedEnvoyDelays.in(offers).flatMap((delaysOf) => delaysOf(config));
    const found = [...brought, ...envoyTargets(config, pushedDelays)];
    audit.configure(found.toSorted(byProgram), config.audit.intervalMs);
  };
  // Balancers may be opened later than the audit.
  scope.hold("the targets", auditTargets.subscribe(offers, follow));
  scope.hold("the delays", pushedEnvoyDelays.subscribe(offers, follow));
  return {
    configure(config) {
      inForce = config;
      follow();
    },
    clusterChanged: (name) => audit.clusterChanged(name),
    findings: (name) => audit.findings(name),
    poolOf: (target, backend) => (inForce === null ? null : poolOf(inForce, target, backend)),
    get targets() {
      return audit.targets;
    },
    get intervalMs() {
      return inForce?.audit.intervalMs ?? 0;
    },
  };
}

/** Which feature is opened first is not the same each time. */
function byProgram(one: AuditTarget, other: AuditTarget): number {
  return routePrograms.indexOf(one.program) - routePrograms.indexOf(other.program);
}

/** What the audit needs of its host. */
type AuditHost = Pick<Host, "now" | "cluster" | "policy" | "offers" | "changed" | "contained">;
