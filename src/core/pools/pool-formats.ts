import { formatHostPort } from "../config/values/address.ts";
import type { PoolDocument, PoolMemberDocument } from "./pool-document.ts";

/** The forms in which other programs read pools. */
export const poolFormats = ["json", "http_sd", "traefik"] as const;
export type PoolFormat = (typeof poolFormats)[number];

/** Pools in a form of another program. @returns what is serialized as JSON */
export function formattedPools(pools: readonly PoolDocument[], format: Exclude<PoolFormat, "json">): object {
  return format === "http_sd" ? pools.flatMap(httpSdGroups) : traefikConfiguration(pools);
}

/**
 * The members of a pool for `http_sd_configs` of Prometheus: one group a member, so that rules of relabeling can choose
 * by its labels. Prometheus wants every value to be a text.
 */
function httpSdGroups({ pool, cluster, members }: PoolDocument): readonly object[] {
  return members.flatMap((member) => {
    const address = addressOf(member);
    if (address === null) return [];
    const labels = {
      __meta_rolecall_pool: pool,
      __meta_rolecall_cluster: cluster,
      __meta_rolecall_node: member.node,
      __meta_rolecall_fit: String(member.fit),
      __meta_rolecall_reason: member.reason ?? "",
      __meta_rolecall_zone: member.zone ?? "",
    };
    return [{ targets: [address], labels }];
  });
}

/** The fit members of each pool as TCP services for the HTTP provider of Traefik, which routers of its own refer to. */
function traefikConfiguration(pools: readonly PoolDocument[]): object {
  const services = pools.map(({ pool, members }) => {
    const servers = members
      .filter(({ fit }) => fit)
      .flatMap((member) => addressOf(member) ?? [])
      .toSorted()
      .map((address) => ({ address }));
    return [pool, { loadBalancer: { servers } }] as const;
  });
  return { tcp: { services: Object.fromEntries(services) } };
}

function addressOf({ host, port }: PoolMemberDocument): string | null {
  return host === null || port === null ? null : formatHostPort({ host, port });
}
