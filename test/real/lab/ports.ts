/** The ports of the lab, all below the ephemeral range and away from every default. */
import { createServer } from "node:net";

export const ports = {
  etcdClient: 22379,
  etcdPeer: 22380,
  /** The first node's; the others follow. */
  api: 28008,
  database: 25541,
  rolecall: 28108,
  rolecallAdmin: 28109,
  rolecall2: 28110,
  rolecall2Admin: 28111,
  haproxyWrite: 25600,
  haproxyRead: 25601,
  /** Where HAProxy itself listens for its checks, and pools that only one test has. */
  haproxyChecks: 25602,
  haproxySoft: 25603,
  haproxyMoved: 25604,
  /**
   * A pair of servers without a cluster manager, with their exporters: the ports of the first one; the second follows.
   */
  plainDatabase: 25551,
  plainExporter: 29187,
  plainDialect: 29630,
  prometheus: 29090,
} as const;

/**
 * Makes sure that nothing listens on these ports of 127.0.0.1.
 * @throws Error naming every port that is taken, and how to find its owner
 */
export async function requireFree(wanted: readonly number[]): Promise<void> {
  const taken: number[] = [];
  for (const port of wanted) if (!(await isFree(port))) taken.push(port);
  if (taken.length === 0) return;
  throw new Error(
    `Cannot start the lab as ports ${wanted.join(", ")} must be free: ${taken.join(", ")} taken (an earlier run? \`ss -ltnp\` names the owner)`,
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
