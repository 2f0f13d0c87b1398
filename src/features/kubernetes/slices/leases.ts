/** Which rolecalls live: each renews a Lease of its own in the namespace of each Service. */
import { nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import { manager } from "../core/slice-objects.ts";

/** The label of the Leases of rolecalls. */
export const leaseLabels = "app.kubernetes.io/managed-by=rolecall";

const nameMax = 253;

interface SeenLease {
  readonly renewed: string;
  readonly durationMs: number;
  /** When the renewal was seen, on the monotonic clock: clocks of several machines are never compared. */
  readonly seenAtMs: number;
}

/** The name of the Lease of a rolecall. */
export function leaseName(instance: string): string {
  return `${manager}-${instance}`;
}

/** A Lease as it is applied. @param instance whose it is; `null`: it ends, so that another one takes over at once */
export function leaseObject(
  { namespace, instance }: { readonly namespace: string; readonly instance: string },
  { isHeld, durationMs, wallMs }: { readonly isHeld: boolean; readonly durationMs: number; readonly wallMs: number },
): object {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: leaseName(instance), namespace, labels: { "app.kubernetes.io/managed-by": manager } },
    spec: {
      ...(isHeld ? { holderIdentity: instance } : {}),
      leaseDurationSeconds: Math.ceil(durationMs / 1_000),
      renewTime: `${new Date(wallMs).toISOString().slice(0, -1)}000Z`,
    },
  };
}

/** The Leases of one namespace, and when each was seen to be renewed. */
export class SeenLeases {
  readonly #now: () => number;
  #seen: ReadonlyMap<string, SeenLease> = new Map();

  /** @param now a monotonic clock, in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes the Leases as they are now. */
  take(objects: Iterable<JsonObject>): void {
    const seen = new Map<string, SeenLease>();
    for (const object of objects) {
      const { holderIdentity, leaseDurationSeconds: seconds, renewTime } = objectOf(object["spec"]);
      const holder = nameOf(holderIdentity, nameMax);
      if (holder === null || holder === "" || typeof seconds !== "number" || typeof renewTime !== "string") continue;
      const before = this.#seen.get(holder);
      // What is seen for the first time counts as renewed just now: it may live.
      seen.set(
        holder,
        before?.renewed === renewTime
          ? before
          : { renewed: renewTime, durationMs: seconds * 1_000, seenAtMs: this.#now() },
      );
    }
    this.#seen = seen;
  }

  /** Up to when a rolecall counts as alive if its Lease is not renewed, on the monotonic clock; -Infinity: it has none. */
  livesUntilMs(instance: string): number {
    const lease = this.#seen.get(instance);
    return lease === undefined ? -Infinity : lease.seenAtMs + lease.durationMs;
  }
}
