import { countText } from "../../core/health/wording.ts";
import { parseCompanions } from "../../core/cluster/values/companion-name.ts";
import { clusterNamed } from "../../core/cluster/lookup.ts";
import type { ClusterConfig, Config } from "../../core/config/model/config.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** Reports companions that no check of the configuration asks for (RC170), and those that answer nowhere (RC171). */
export async function diagnoseCompanions({
  command: { result },
  config,
  probed: { snapshot },
}: DoctorContext): Promise<void> {
  const all = config.clusters.flatMap((cluster) => cluster.companions.map(({ name }) => ({ cluster, name })));
  if (all.length === 0) return;
  for (const { cluster, name } of all) {
    const companion = `companion ${name} of cluster ${cluster.name}`;
    if (!isAsked(config, cluster, name)) result.diagnose("RC170", { message: `no check asks for ${companion}` });
    const nodes = clusterNamed(snapshot, cluster.name)?.nodes ?? [];
    const evidence = nodes.flatMap(({ companions }) => companions.get(name) ?? []);
    if (evidence.length === 0 || evidence.some(({ sentAtMs }) => sentAtMs > -Infinity)) continue;
    const why = evidence.flatMap(({ failure }) => failure?.detail ?? [])[0] ?? "no answer";
    result.diagnose("RC171", {
      message: `${companion} answers beside none of ${countText(evidence.length, "node")}: ${why}`,
    });
  }
  result.cover("companions", "complete", { detail: countText(all.length, "companion") });
}

function isAsked(
  { pools, balancers, poolers, listen }: Config,
  { name: cluster }: Pick<ClusterConfig, "name">,
  companion: string,
): boolean {
  const isIn = (query: string): boolean =>
    parseCompanions(new URLSearchParams(query).get("with") ?? "")?.includes(companion) === true;
  const checks = [
    ...pools,
    ...balancers.flatMap(({ haproxy }) => haproxy.backends),
    ...poolers.flatMap(({ databases }) => databases),
  ];
  return (
    checks.some((entry) => entry.cluster === cluster && entry.check.companions.includes(companion)) ||
    listen.some(
      (listener) =>
        (listener.cluster === null || listener.cluster === cluster) &&
        (isIn(listener.defaults) || (listener.agent !== null && isIn(listener.agent.check.query))),
    )
  );
}
