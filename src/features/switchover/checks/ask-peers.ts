import { askPeer } from "../peers/peer-grantor.ts";
import { type AskedPeer, noPeerLine, peerLine } from "../preflight/peer-lines.ts";
import type { PreflightLine } from "../preflight/preflight-line.ts";
import { pausedBy } from "../run/plan-of.ts";
import type { PreflightInput } from "./preflight-input.ts";

/** Asks each peer whether a run may begin now, and whether it would ask this process in turn. Nothing is promised. */
export async function askPeers({
  cluster,
  config,
  self,
  isUnguarded,
}: Pick<PreflightInput, "cluster" | "config" | "self" | "isUnguarded">): Promise<readonly PreflightLine[]> {
  if (isUnguarded) return [noPeerLine()];
  const databases = pausedBy(config, cluster).map(({ pooler, database }) => ({ pooler, database }));
  if (databases.length === 0) return [];
  const { instance, name: by, generation } = self;
  const asked = { run: `check-${instance}`.slice(0, 32), cluster, generation, by, databases, instance, isDryRun: true };
  const answers = await Promise.all(
    config.peers.map(async (peer): Promise<AskedPeer> => ({ name: peer.name, answer: await askPeer(peer, asked) })),
  );
  return answers.map(peerLine);
}
