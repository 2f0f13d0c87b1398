/**
 * The ports of the lab, all below the ephemeral range, away from every default and from those that `freePort` gives.
 * Several labs run side by side: each test process claims a lane of ports.
 */
import { hold, takenOf } from "../../fake/free-port.ts";

/** Ports of the first lane. Those of lane N are `step * N` higher, and no two lanes share one. */
const step = 40;
const lanes = 6;
/** A process has the first lane while it listens on this port; the ports of the other lanes follow. */
const laneLock = 25480;

/** The lane of this process. */
export const lane = await claimLane();
const offset = step * lane;

export const ports = {
  etcdClient: 22379 + offset,
  etcdPeer: 22380 + offset,
  /** The first node's; the others follow. */
  api: 28008 + offset,
  database: 25541 + offset,
  rolecall: 28108 + offset,
  rolecallAdmin: 28109 + offset,
  rolecall2: 28110 + offset,
  rolecall2Admin: 28111 + offset,
  haproxyWrite: 25600 + offset,
  haproxyRead: 25601 + offset,
  /** Where HAProxy itself listens for its checks, and pools that only one test has. */
  haproxyChecks: 25602 + offset,
  haproxySoft: 25603 + offset,
  haproxyMoved: 25604 + offset,
  /** Where Envoy gets its endpoints, and its admin interface. */
  rolecallXds: 28112 + offset,
  envoyAdmin: 25605 + offset,
  /**
   * A pair of servers without a cluster manager, with their exporters: the ports of the first one; the second follows.
   */
  plainDatabase: 25551 + offset,
  plainExporter: 29187 + offset,
  plainDialect: 29630 + offset,
  prometheus: 29090 + offset,
  kubeApi: 26443 + offset,
} as const;

/**
 * Makes sure that nothing listens on these ports of 127.0.0.1.
 * @throws Error naming every port that is taken, and how to find its owner
 */
export async function requireFree(wanted: readonly number[]): Promise<void> {
  const taken = await takenOf(wanted);
  if (taken.length === 0) return;
  throw new Error(
    `Cannot start the lab as ports ${wanted.join(", ")} must be free: ${taken.join(", ")} taken (an earlier run? \`ss -ltnp\` names the owner)`,
  );
}

/**
 * Claims a lane for the life of this process.
 * @throws Error if all lanes are taken
 */
async function claimLane(): Promise<number> {
  for (let at = 0; at < lanes; at += 1) if (await hold(laneLock + at)) return at;
  throw new Error(
    `Cannot start the lab: one of the ports ${laneLock} to ${laneLock + lanes - 1} must be free, got none`,
  );
}
