/** Which rolecalls live: each renews a Lease of its own in the namespace of each Service. */
import { nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import type { PodAt } from "../core/service-content.ts";
import { manager } from "../core/slice-objects.ts";

/** The label of the Leases of rolecalls. */
export const leaseLabels = "app.kubernetes.io/managed-by=rolecall";

const nameMax = 253;
/** How many renewals may be missed before a rolecall counts as dead. */
const renewals = 3;

/** The name of the Lease of a rolecall. */
export function leaseName(instance: string): string {
  return `${manager}-${instance}`;
}

/** Whose Lease it is. @property pod the pod that it goes with; `null`: it stays when the rolecall has gone */
export interface LeaseOwner {
  readonly namespace: string;
  readonly instance: string;
  readonly pod: Pick<PodAt, "name" | "uid"> | null;
}

/**
 * A Lease as it is applied. Each pod of a Deployment has another name, and so a Lease of its own: Kubernetes deletes it
 * with the pod.
 * @param isHeld `false`: it ends, so that another rolecall takes over at once
 * @param renewMs how often it is renewed
 */
export function leaseObject(
  { namespace, instance, pod }: LeaseOwner,
  { isHeld, renewMs, wallMs }: { readonly isHeld: boolean; readonly renewMs: number; readonly wallMs: number },
): object {
  const owners =
    pod === null ? {} : { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: pod.name, uid: pod.uid }] };
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: leaseName(instance), namespace, labels: { "app.kubernetes.io/managed-by": manager }, ...owners },
    spec: {
      ...(isHeld ? { holderIdentity: instance } : {}),
      leaseDurationSeconds: Math.ceil((renewals * renewMs) / 1_000),
      renewTime: `${new Date(wallMs).toISOString().slice(0, -1)}000Z`,
    },
  };
}

interface SeenLease {
  /** What the Lease says: another text is a renewal. */
  readonly said: string;
  readonly durationMs: number;
  readonly isHeld: boolean;
  /** How many renewals of this rolecall's own Lease had been seen when it was seen to be renewed. */
  readonly seenAt: number;
}

/**
 * The Leases of one namespace. Time is counted in renewals of this rolecall's own Lease, which the same watch brings: no
 * clock is compared with another one, and while the watch or the API server stands still, nobody dies of it.
 */
export class SeenLeases {
  readonly #me: string;
  readonly #renewMs: () => number;
  #seen: ReadonlyMap<string, SeenLease> = new Map();
  #own = "";
  /** Renewals of the own Lease that were seen. */
  #count = 0;
  /** Since which of them a rolecall without a Lease is missed. */
  readonly #missedSince = new Map<string, number>();

  /** @param renewMs how often the own Lease is renewed, in ms */
  constructor(me: string, renewMs: () => number) {
    this.#me = me;
    this.#renewMs = renewMs;
  }

  /** Takes the Leases as they are now. */
  take(objects: ReadonlyMap<string, JsonObject>): void {
    const own = saidBy(objects.get(leaseName(this.#me)));
    if (own !== "" && own !== this.#own) this.#count += 1;
    this.#own = own;
    const seen = new Map<string, SeenLease>();
    for (const [name, object] of objects) {
      const { holderIdentity, leaseDurationSeconds: seconds } = objectOf(object["spec"]);
      const said = saidBy(object);
      const before = this.#seen.get(name);
      const durationMs = typeof seconds === "number" && seconds > 0 ? seconds * 1_000 : 0;
      const isHeld = nameOf(holderIdentity, nameMax) !== null && holderIdentity !== "";
      seen.set(name, before?.said === said ? before : { said, durationMs, isHeld, seenAt: this.#count });
    }
    // Who had ended its Lease, or was missed, is not missed anew because the Lease is deleted.
    for (const [name, lease] of this.#seen)
      if (!seen.has(name) && !this.#isAlive(lease)) this.#miss(name.slice(leaseName("").length), -Infinity);
    this.#seen = seen;
    for (const instance of this.#missedSince.keys())
      if (seen.has(leaseName(instance))) this.#missedSince.delete(instance);
  }

  /**
   * Whether a rolecall counts as alive: its Lease is renewed, or not missed for long enough. One that has ended its Lease
   * is dead at once.
   */
  lives(instance: string): boolean {
    if (instance === this.#me) return true;
    const lease = this.#seen.get(leaseName(instance));
    if (lease === undefined) {
      const since = this.#missedSince.get(instance) ?? this.#count;
      this.#miss(instance, since);
      return this.#count - since <= renewals;
    }
    return this.#isAlive(lease);
  }

  #isAlive({ isHeld, seenAt, durationMs }: SeenLease): boolean {
    return isHeld && (this.#count - seenAt) * this.#renewMs() <= durationMs;
  }

  #miss(instance: string, since: number): void {
    if (this.#missedSince.size < missedMax) this.#missedSince.set(instance, since);
  }
}

/** The most rolecalls without a Lease that are told apart. */
const missedMax = 1_024;

function saidBy(object: JsonObject | undefined): string {
  const { holderIdentity, renewTime } = objectOf(object?.["spec"]);
  return object === undefined ? "" : JSON.stringify([holderIdentity, renewTime]);
}
