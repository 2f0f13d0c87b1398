import { countText } from "../../core/health/wording.ts";
import { parseZones } from "../../core/cluster/values/zone.ts";
import { clusterNamed } from "../../core/cluster/lookup.ts";
import type { Config } from "../../core/config/model/config.ts";
import { zoneOf } from "../../core/health/evidence/node/zone.ts";
import { policyOf } from "../../core/state/clusters.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** What asks for zones in the configuration. */
interface AskedZones {
  readonly subject: string;
  readonly cluster: string;
  readonly zones: readonly string[];
}

/** Reports zones that a check asks for and that no node is in (RC169): the check then prefers nobody. */
export function checkZones({ command: { result }, config, probed: { snapshot } }: DoctorContext): void {
  const asked = askedZones(config).filter(({ zones }) => zones.length > 0);
  if (asked.length === 0) return;
  const known = new Map(
    config.clusters.map((cluster) => {
      const nodes = clusterNamed(snapshot, cluster.name)?.nodes ?? [];
      const policy = policyOf(cluster, config.probe);
      return [cluster.name, [...new Set(nodes.flatMap((node) => zoneOf(policy, node) ?? []))].toSorted()];
    }),
  );
  for (const { subject, cluster, zones } of asked)
    for (const zone of zones) {
      const others = known.get(cluster) ?? [];
      if (others.includes(zone)) continue;
      const there = others.length === 0 ? "no zone of a node is known" : `its nodes are in ${others.join(", ")}`;
      result.diagnose("RC169", { message: `${subject} prefers zone ${zone} of cluster ${cluster}: ${there}` });
    }
  result.cover("zones", "complete", { detail: `${countText(asked.length, "check")} with zones` });
}

function askedZones({ pools, balancers, listen, clusters }: Config): readonly AskedZones[] {
  const all = clusters.map(({ name }) => name);
  return [
    ...pools.map(({ name, cluster, check }) => ({ subject: `pool ${name}`, cluster, zones: check.zones })),
    ...balancers.flatMap(({ name, haproxy }) =>
      haproxy.backends.map(({ name: backend, pool, cluster, check }) => ({
        subject: `balancer ${name}/${backend}`,
        cluster,
        // The pool's own zones are reported of the pool.
        zones: pools.some((known) => known.name === pool && known.check.zones.length > 0) ? [] : check.zones,
      })),
    ),
    ...listen.flatMap(({ address, port, cluster, agent, defaults }) =>
      (cluster === null ? all : [cluster]).map((of) => ({
        subject: `listener ${address}:${port}`,
        cluster: of,
        zones: agent === null ? zonesIn(defaults) : agent.pool === null ? zonesIn(agent.check.query) : [],
      })),
    ),
  ];
}

function zonesIn(query: string): readonly string[] {
  return parseZones(new URLSearchParams(query).get("zone") ?? "") ?? [];
}
