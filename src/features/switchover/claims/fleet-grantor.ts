import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import { isObject, objectOf, parseJson } from "../../../core/cluster/values/json.ts";
import { withoutUnsafe } from "../../../core/cluster/values/unsafe-text.ts";
import type { RunClaims } from "../../../core/feature/shared-evidence.ts";
import { inTime, late } from "../../../core/state/files/in-time.ts";
import type { Claim } from "./claim.ts";
import type { Grantor } from "./own-claim.ts";
import { type Holder, leaseMs } from "./standing-lease.ts";
import type { LeaseGrantor } from "./standing-leases.ts";

/** How long the store may take, in ms. */
const limitMs = 2_000;
/**
 * How long a claim is kept of a member that is gone, in s: its run is over by then, whoever finishes it. A run that ends
 * gives it back at once.
 */
const lifeS = 120;

/** The store of a fleet: it grants each cluster to one member. @param isOptional whether it may be silent */
export function fleetGrantor(store: RunClaims, isOptional: boolean): Grantor {
  const held = new Map<string, { readonly cluster: string; readonly value: string }>();
  return {
    name: "the fleet",
    isOptional,
    ask: async (claim) => {
      const value = JSON.stringify({ run: claim.run, by: claim.by });
      held.set(claim.run, { cluster: claim.cluster, value });
      try {
        const found = await inTime(store.claimRun(claim.cluster, value, lifeS), limitMs);
        if (found === late) return { kind: "silent", why: `no answer within ${limitMs} ms` };
        if (found.value !== value)
          return { kind: "denied", why: holderText(claim, found.value), generation: 0, isBehind: false };
        // The numbers of runs are those of the store: they grow, whichever member begins the next one.
        return claim.generation >= found.revision
          ? { kind: "granted", leaseMs: lifeS * 1_000, isMutual: null }
          : { kind: "denied", why: "", generation: found.revision, isBehind: true };
      } catch (error) {
        return { kind: "silent", why: withoutUnsafe(errorMessage(error).slice(0, 300)) };
      }
    },
    release: (run) => {
      const own = held.get(run);
      held.delete(run);
      if (own !== undefined) void store.releaseRun(own.cluster, own.value).catch(() => {});
    },
  };
}

/** The same store: it says which member holds the clients of a cluster after a loss. */
export function fleetLeases(store: RunClaims): LeaseGrantor {
  return {
    isStore: true,
    ask: async (cluster, { instance, by }) => {
      try {
        const found = await store.claimHold(cluster, writtenHolder({ instance, by }));
        const read = objectOf(parseJson(found));
        const { instance: holder, by: who } = read;
        if (typeof holder !== "string") return { kind: "silent" };
        if (holder === instance) return { kind: "granted" };
        return {
          kind: "held",
          holder: { instance: holder, by: withoutUnsafe(String(who).slice(0, 128)), leftMs: leaseMs },
        };
      } catch {
        return { kind: "silent" };
      }
    },
    give: (cluster, holder) => void store.releaseHold(cluster, writtenHolder(holder)).catch(() => {}),
  };
}

function writtenHolder({ instance, by }: Holder): string {
  return JSON.stringify({ instance, by });
}

function holderText({ cluster }: Claim, value: string): string {
  const read = parseJson(value);
  const by = isObject(read) && typeof read["by"] === "string" ? ` of ${withoutUnsafe(read["by"].slice(0, 128))}` : "";
  return `a switchover of ${cluster}${by} goes on`;
}
