import type { FeatureMetric } from "../../core/feature/feature.ts";
import { routeFindingKinds } from "../../core/balancing/audited/audit-target.ts";
import type { RunningAudit } from "./open-audit.ts";

/** The metrics of the audit. */
export const auditMetrics: readonly FeatureMetric<RunningAudit>[] = [
  {
    type: "gauge",
    name: "rolecall_audit_up",
    help: "Whether the last look at where a balancer or pooler sends its sessions could read it.",
    read: (running) =>
      (running?.targets ?? []).flatMap(({ target, up }) => (up === null ? [] : [[{ target }, Number(up)] as const])),
  },
  {
    type: "gauge",
    name: "rolecall_audit_findings",
    help: "How the traffic of a balancer or pooler differs from the verdicts, by kind of finding.",
    read: (running) =>
      (running?.targets ?? []).flatMap(({ target, findings }) =>
        routeFindingKinds.map(
          (finding) => [{ target, finding }, findings.filter(({ kind }) => kind === finding).length] as const,
        ),
      ),
  },
  {
    type: "gauge",
    name: "rolecall_audit_unusable_pools",
    help: "Pools of a balancer or pooler that no client can use, although a node is fit.",
    read: (running) =>
      (running?.targets ?? []).map(({ target, findings }) => {
        const unusable = findings.filter(({ isUnusable }) => isUnusable).map(({ backend }) => backend);
        return [{ target }, new Set(unusable).size] as const;
      }),
  },
];
