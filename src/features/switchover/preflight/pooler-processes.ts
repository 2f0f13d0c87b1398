import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { formatPoolerAddress, type PoolerAddress } from "../../../core/config/values/pooler-address.ts";
import { bareHost } from "../../../core/health/evidence/node/identity.ts";
import type { ShownPeer } from "../../../core/balancing/pgbouncer/documents.ts";
import type { PoolerFinding } from "./pooler-finding.ts";
import type { PoolerSetup } from "./pooler-setup.ts";

/** PgBouncer's port of a peer where it is not set. */
const defaultPort = 6432;

/**
 * A PAUSE reaches one process only: an address must reach one process, always the same, and every process must be
 * listed.
 */
export function processFindings(setup: PoolerSetup): readonly PoolerFinding[] {
  const { pooler, shown } = setup;
  const { address, processes } = pooler.pgbouncer;
  const finding = (text: string, hint: string): PoolerFinding => ({
    kind: "processes",
    level: "error",
    subject: pooler.name,
    text,
    hint,
  });
  const isShared = shown.settings.get("so_reuseport") === "1";
  const byFolder = "List each process as a pooler of its own, with the folder of its Unix socket, and set processes.";
  if (isShared && "host" in address)
    return [
      finding(
        `address must be the folder of a Unix socket, because so_reuseport is 1, got ${formatPoolerAddress(address)}`,
        byFolder,
      ),
    ];
  if (!shown.isOneProcess)
    return [finding("address must reach one process, got two consoles that do not see each other", byFolder)];
  const twins = shown.twins.flatMap((at) => setup.poolers[at]?.name ?? []);
  if (twins.length > 0)
    return [
      finding(
        `must be a process that no other pooler is, got that of ${twins.join(", ")}`,
        "Remove one of them from poolers: both addresses lead to one PgBouncer.",
      ),
    ];
  const peers = shown.peers ?? [];
  const missing = peers.filter(
    (peer) => !isSelf(peer, setup) && !setup.poolers.some((other) => isPeer(other, peer, setup)),
  );
  // Peers on other machines do not share this port.
  const sharing = peers.filter(({ host }) => host?.startsWith("/") === true).length;
  const expected = !isShared ? 1 : sharing === 0 ? processes : sharing;
  const unseen: PoolerFinding = {
    ...finding("so_reuseport is 1 and SHOW PEERS names nobody: other processes of the port cannot be seen", byFolder),
    level: "warning",
  };
  return [
    ...(isShared && sharing === 0 && processes === 1 ? [unseen] : []),
    ...missing.map((peer) =>
      finding(
        `SHOW PEERS names ${peerText(peer)}, which must be a pooler too: a PAUSE does not reach it`,
        "Add it to poolers with this address, or remove it from [peers] of PgBouncer.",
      ),
    ),
    ...(processes === expected
      ? []
      : [
          finding(
            `processes must be ${expected}, because ${isShared ? `SHOW PEERS names ${sharing}` : "so_reuseport is 0"}, got ${processes}`,
            byFolder,
          ),
        ]),
  ];
}

function isSelf({ id }: ShownPeer, { shown }: PoolerSetup): boolean {
  return String(id) === shown.settings.get("peer_id");
}

function isPeer({ pgbouncer }: PoolerConfig, peer: ShownPeer, { resolved }: PoolerSetup): boolean {
  const { address } = pgbouncer;
  const { host, port } = peer;
  if (host === null || (port ?? defaultPort) !== address.port) return false;
  if ("folder" in address) return trimmed(host) === address.folder;
  const known = addressesOf(address, resolved);
  const bare = bareHost(host);
  return [bare, ...(resolved.get(bare) ?? [])].some((one) => known.includes(one));
}

function addressesOf(
  address: Extract<PoolerAddress, { host: string }>,
  resolved: PoolerSetup["resolved"],
): readonly string[] {
  const bare = bareHost(address.host);
  return [bare, ...(resolved.get(bare) ?? [])];
}

function trimmed(folder: string): string {
  return folder.replace(/(?<=.)\/+$/, "");
}

function peerText({ host, port }: ShownPeer): string {
  return `${host ?? "a peer without a host"}:${port ?? defaultPort}`;
}
