import type { FleetStore, StoreEvents, StorePhase } from "../../src/fleet/ownership/fleet-store.ts";
import type { ManualClock } from "./manual-clock.ts";

interface StoredKey {
  readonly value: string;
  readonly lease: string;
}

/** The keys of a fleet in memory, with leases that end by a manual clock, and members that can be cut off. */
export class FleetKeys {
  readonly #clock: ManualClock;
  readonly #leaseMs: number;
  readonly #members = new Set<MemoryFleetStore>();
  keys = new Map<string, StoredKey>();
  /** Lease -> when it ends. */
  leases = new Map<string, number>();
  /** Nobody reaches it. */
  isDown = false;
  #count = 0;

  constructor(clock: ManualClock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#tick();
  }

  /** A member's connection. */
  store(): MemoryFleetStore {
    const store = new MemoryFleetStore(this, this.#clock, this.#leaseMs);
    this.#members.add(store);
    return store;
  }

  grant(lifeMs = this.#leaseMs): string {
    this.#count += 1;
    this.leases.set(String(this.#count), this.#clock.nowMs + lifeMs);
    return String(this.#count);
  }

  /** What etcd does when it has a leader again: every lease begins anew. */
  restart(): void {
    this.isDown = false;
    for (const lease of this.leases.keys()) this.leases.set(lease, this.#clock.nowMs + this.#leaseMs);
  }

  put(key: string, value: string, lease: string): void {
    if (!this.leases.has(lease)) throw new Error("requested lease not found");
    this.keys.set(key, { value, lease });
    this.#announce(key, value);
  }

  remove(key: string): void {
    if (this.keys.delete(key)) this.#announce(key, null);
  }

  end(lease: string): void {
    this.leases.delete(lease);
    for (const [key, stored] of this.keys) if (stored.lease === lease) this.remove(key);
  }

  #announce(key: string, value: string | null): void {
    for (const member of this.#members) member.hear(key, value);
  }

  #tick(): void {
    if (!this.isDown) for (const [lease, endMs] of this.leases) if (this.#clock.nowMs >= endMs) this.end(lease);
    this.#clock.setTimer(() => this.#tick(), 100);
  }
}

/** A member's connection to {@link FleetKeys}. */
export class MemoryFleetStore implements FleetStore {
  readonly #keys: FleetKeys;
  readonly #clock: ManualClock;
  readonly #leaseMs: number;
  /** Whether the member does not reach the keys, or stands still. */
  isCut = false;
  #lease: string | null = null;
  /** Whether a change did not arrive: then the connection is broken. */
  #hasMissed = false;
  #phase: StorePhase = { kind: "joining" };
  #register: Parameters<FleetStore["start"]>[0] | null = null;
  #events: StoreEvents | null = null;

  constructor(keys: FleetKeys, clock: ManualClock, leaseMs: number) {
    this.#keys = keys;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  start(register: Parameters<FleetStore["start"]>[0], events: StoreEvents): void {
    this.#register = register;
    this.#events = events;
    this.#tick();
  }

  registerAgain(): void {
    if (this.#lease !== null && this.#register !== null && this.#isReached)
      this.#keys.put(this.#register.key, this.#register.value(this.#lease), this.#lease);
  }

  hear(key: string, value: string | null): void {
    // A message takes a moment.
    this.#clock.setTimer(() => {
      if (this.#phase.kind !== "joined") return;
      if (this.#isReached) this.#events?.onChange(key, value);
      else this.#hasMissed = true;
    }, 5);
  }

  async claim(key: string, value: string): Promise<boolean> {
    if (this.#lease === null || !this.#isReached || this.#keys.keys.has(key)) return false;
    return this.#put(key, value, this.#lease);
  }

  async pass(
    key: string,
    from: string,
    { value, lease }: { readonly value: string; readonly lease: string },
  ): Promise<boolean> {
    if (!this.#isReached || this.#keys.keys.get(key)?.value !== from) return false;
    return this.#put(key, value, lease);
  }

  async release(key: string, value: string): Promise<boolean> {
    if (!this.#isReached || this.#keys.keys.get(key)?.value !== value) return false;
    this.#keys.remove(key);
    return true;
  }

  async putFor(key: string, value: string, lifeS: number): Promise<void> {
    if (!this.#isReached) throw new Error("apart");
    this.#keys.put(key, value, this.#keys.grant(lifeS * 1_000));
  }

  async remove(key: string): Promise<void> {
    if (!this.#isReached) throw new Error("apart");
    this.#keys.remove(key);
  }

  async stop(): Promise<void> {
    this.#enter({ kind: "stopped" });
    if (this.#lease !== null && this.#isReached) this.#keys.end(this.#lease);
  }

  get #isReached(): boolean {
    return !this.isCut && !this.#keys.isDown;
  }

  #put(key: string, value: string, lease: string): boolean {
    if (!this.#keys.leases.has(lease)) return false;
    this.#keys.put(key, value, lease);
    return true;
  }

  /** As the connection to etcd: keeps the lease alive, notices that it cannot, and joins again. */
  #tick(): void {
    if (this.#phase.kind === "stopped") return;
    const isAlive = this.#isReached && !this.#hasMissed && this.#lease !== null && this.#keys.leases.has(this.#lease);
    if (this.#phase.kind === "joined" && !isAlive) this.#enter({ kind: "apart", problem: "lost" });
    else if (this.#phase.kind !== "joined" && this.#isReached) this.#join();
    else if (isAlive && this.#lease !== null) this.#keys.leases.set(this.#lease, this.#clock.nowMs + this.#leaseMs);
    this.#clock.setTimer(() => this.#tick(), this.#phase.kind === "joined" ? this.#leaseMs / 3 : 500);
  }

  #join(): void {
    if (this.#lease === null || !this.#keys.leases.has(this.#lease)) this.#lease = this.#keys.grant();
    this.#hasMissed = false;
    this.registerAgain();
    this.#enter({ kind: "joined", lease: this.#lease });
    this.#events?.onAll(new Map([...this.#keys.keys].map(([key, { value }]) => [key, value])));
  }

  #enter(phase: StorePhase): void {
    this.#phase = phase;
    this.#events?.onPhase(phase);
  }
}
