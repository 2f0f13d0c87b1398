import type { FeatureMetric } from "../../core/feature/feature.ts";
import {
  isDiffering,
  lastingProblems,
  readyAddresses,
  type SeenService,
  serviceProblemKinds,
} from "./core/seen-service.ts";
import type { RunningKubernetes } from "./open-kubernetes.ts";

/** The metrics of Services that are read at a scrape. */
export const kubernetesMetrics: readonly FeatureMetric<RunningKubernetes>[] = [
  {
    type: "gauge",
    name: "rolecall_kubernetes_up",
    help: "Whether the API server of Kubernetes answers.",
    read: (running) => (running === null || running.isUp === null ? null : Number(running.isUp)),
  },
  {
    type: "gauge",
    name: "rolecall_service_ready",
    help: "How many addresses a Service leads to, as it is published. No sample before that is known.",
    read: (running) =>
      (running?.services(null) ?? []).flatMap((seen) =>
        seen.standing.kind === "unread" ? [] : [[labelsOf(seen), readyAddresses(seen).length] as const],
      ),
  },
  {
    type: "gauge",
    name: "rolecall_service_writer",
    help: "Whether this rolecall has written what is published of a Service.",
    read: (running) => (running?.services(null) ?? []).map((seen) => [labelsOf(seen), Number(seen.isMine)] as const),
  },
  {
    type: "gauge",
    name: "rolecall_service_problem",
    help: "Whether a Service does not lead where it should, or not only there, by what is wrong.",
    read: (running) => {
      if (running === null) return [];
      const { nowMs } = running;
      return running.services(null).flatMap((seen) => {
        const lasting = new Set(lastingProblems(seen, nowMs).map(({ kind }) => kind));
        return [
          ...serviceProblemKinds.map(
            (problem) => [{ ...labelsOf(seen), problem }, Number(lasting.has(problem))] as const,
          ),
          [{ ...labelsOf(seen), problem: "differs" }, Number(isDiffering(seen, nowMs))] as const,
        ];
      });
    },
  },
];

function labelsOf({
  cluster,
  pool,
  service,
}: Pick<SeenService, "cluster" | "pool" | "service">): Readonly<Record<string, string>> {
  return { cluster, pool, service };
}
