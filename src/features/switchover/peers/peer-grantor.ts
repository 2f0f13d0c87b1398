import type { PeerConfig } from "../config/peer-schema.ts";
import type { ClaimAnswer, NoAnswer } from "../../../core/cluster/run-claim.ts";
import { type AskedClaim, type Claim, claimLeaseMs, writtenClaim } from "../claims/claim.ts";
import type { Grantor } from "../claims/own-claim.ts";
import { leaseMs } from "../claims/standing-lease.ts";
import { type LeaseGrantor, type SaidLease, writtenStanding } from "../claims/standing-leases.ts";
import { objectOf } from "../../../core/cluster/values/json.ts";
import { nameIn, openSession, type PeerReply, type PeerRequest, send, textOf } from "./peer-session.ts";

/** How long a peer may take to answer a claim, in ms: it writes its promise to the disk first. */
const askMs = 2_000;
/** The same where a database waits that stops in any case. */
const hurriedMs = 300;
/** How long a peer may take to say who it is, in ms. */
const identityMs = 500;

/** A peer that is asked whether a run may begin. @param isHurried a peer that is late is not waited for */
export function peerGrantor(peer: PeerConfig, isHurried: boolean): Grantor {
  return {
    name: peer.name,
    isOptional: isHurried,
    ask: (claim) => askPeer(peer, { ...claim, isDryRun: false }, isHurried ? hurriedMs : askMs),
    release: (run) =>
      void call(peer, { method: "DELETE", path: pathOf(run), body: null, limitMs: askMs }).catch(() => {}),
  };
}

/**
 * Asks a peer whether a run may begin. Never rejects.
 * @returns its answer, or why there is none
 */
export async function askPeer(
  peer: PeerConfig,
  asked: AskedClaim,
  limitMs: number = askMs,
): Promise<ClaimAnswer | NoAnswer> {
  try {
    return answerOf(await call(peer, { method: "POST", path: "/claims", body: writtenClaim(asked), limitMs }), asked);
  } catch (error) {
    return { kind: "silent", why: textOf(error) };
  }
}

/** Asks a peer for its process. @returns `null` if it does not say. Never rejects */
export async function instanceOf(peer: PeerConfig): Promise<string | null> {
  try {
    const { status, body } = await call(peer, { method: "GET", path: "/claims", body: null, limitMs: identityMs });
    return status === 200 && typeof body["instance"] === "string" ? body["instance"] : null;
  } catch {
    return null;
  }
}

async function call(peer: PeerConfig, request: PeerRequest): Promise<PeerReply> {
  const session = openSession(peer);
  try {
    return await send(session, request);
  } finally {
    void session.client.destroy().catch(() => {});
  }
}

function answerOf(reply: PeerReply, { generation }: Claim): ClaimAnswer | NoAnswer {
  const { status, body } = reply;
  if (status === 200 && body["granted"] === true) {
    const mutual = body["mutual"];
    return { kind: "granted", leaseMs: claimLeaseMs, isMutual: typeof mutual === "boolean" ? mutual : null };
  }
  const known = body["generation"];
  if (status === 409)
    return {
      kind: "denied",
      why: nameIn(reply, "message") ?? "it refuses",
      generation: typeof known === "number" && Number.isSafeInteger(known) && known >= 0 ? known : generation,
      isBehind: body["behind"] === true,
    };
  if (status === 404) return { kind: "silent", why: "it is of a version that knows no claims" };
  return { kind: "silent", why: nameIn(reply, "message") ?? `it answered ${status}` };
}

function pathOf(run: string): string {
  return `/claims/${encodeURIComponent(run)}`;
}

/** A peer that may hold clients after a loss in place of this process. */
export function peerLeases(peer: PeerConfig): LeaseGrantor {
  const say = async (said: SaidLease): Promise<PeerReply> =>
    call(peer, { method: "POST", path: "/claims", body: writtenStanding(said), limitMs: identityMs });
  return {
    isStore: false,
    ask: async (cluster, { instance, by, isOwn }) => {
      try {
        const { status, body } = await say({ cluster, instance, by, state: isOwn ? "own" : "new" });
        if (status === 200 && body["granted"] === true) return { kind: "granted" };
        const { instance: holder, by: who, left_ms: left } = objectOf(body["holder"]);
        if (status !== 409 || typeof holder !== "string" || typeof left !== "number") return { kind: "silent" };
        const leftMs = Math.min(leaseMs, Math.max(0, left));
        return { kind: "held", holder: { instance: holder, by: typeof who === "string" ? who : peer.name, leftMs } };
      } catch {
        return { kind: "silent" };
      }
    },
    give: (cluster, holder) => void say({ cluster, ...holder, state: "given" }).catch(() => {}),
  };
}
