import type {
  ClaimedKey,
  FleetStore,
  StoreEvents,
  StorePhase,
} from "../../src/features/fleet/ownership/fleet-store.ts";
import type { SetTimer } from "../../src/core/cluster/timer.ts";

/** What a store needs of a clock. */
interface KeysClock {
  readonly nowMs: number;
  readonly setTimer: SetTimer;
}

export interface StoredKey {
  readonly value: string;
  readonly lease: string;
}

/** The keys of a fleet in memory, with leases that end by the clock of a test, and members that can be cut off. */
export class FleetKeys {
  readonly #clock: KeysClock;
  readonly #leaseMs: number;
  readonly #members = new Set<MemoryFleetStore>();
  keys = new Map<string, StoredKey>();
  /** Lease -> when it ends. */
  leases = new Map<string, number>();
  /** Nobody reaches it. */
  isDown = false;
  /** It takes no writes. */
  isFull = false;
  /** How many writes it has refused meanwhile. */
  refused = 0;
  /** How long a request or an answer takes, in ms; 0: no time passes. */
  latencyMs: () => number = () => 0;
  /** Called with each change, in the order of the store. */
  onRevision: (key: string, stored: StoredKey | null) => void = () => {};
  #count = 0;

  constructor(clock: KeysClock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#tick();
  }

  /** A member's connection. @param clock that of the member */
  store(clock: KeysClock = this.#clock): MemoryFleetStore {
    const store = new MemoryFleetStore(this, clock, this.#leaseMs);
    this.#members.add(store);
    return store;
  }

  grant(lifeMs = this.#leaseMs): string {
    this.#count += 1;
    this.leases.set(String(this.#count), this.#clock.nowMs + lifeMs);
    return String(this.#count);
  }

  /** What etcd does when it has a leader again: every lease begins anew, and connections are lost. */
  restart(): void {
    this.isDown = false;
    for (const member of this.#members) member.lose();
    for (const lease of this.leases.keys()) this.leases.set(lease, this.#clock.nowMs + this.#leaseMs);
  }

  put(key: string, value: string, lease: string): void {
    if (!this.leases.has(lease)) throw new Error("requested lease not found");
    this.keys.set(key, { value, lease });
    this.onRevision(key, { value, lease });
    this.#announce(key, value);
  }

  remove(key: string): void {
    if (!this.keys.delete(key)) return;
    this.onRevision(key, null);
    this.#announce(key, null);
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
  readonly #clock: KeysClock;
  readonly #leaseMs: number;
  /** Whether the member does not reach the keys, or stands still. */
  isCut = false;
  #lease: string | null = null;
  /** Whether a change did not arrive: then the connection is broken. */
  #hasMissed = false;
  /** When the newest change arrives, in ms. */
  #heardMs = 0;
  #connection = 0;
  #phase: StorePhase = { kind: "joining" };
  #register: Parameters<FleetStore["start"]>[0] | null = null;
  #events: StoreEvents | null = null;

  constructor(keys: FleetKeys, clock: KeysClock, leaseMs: number) {
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
    if (this.#lease === null || this.#register === null || !this.#isReached) return;
    if (!this.#put(this.#register.key, this.#register.value(this.#lease), this.#lease)) this.lose();
  }

  hear(key: string, value: string | null): void {
    // A message takes a moment, and comes after those before it.
    const { nowMs } = this.#clock;
    this.#heardMs = Math.max(this.#heardMs, nowMs + 5 + this.#keys.latencyMs());
    const connection = this.#connection;
    this.#clock.setTimer(() => {
      if (this.#phase.kind !== "joined" || connection !== this.#connection) return;
      if (this.#isReached) this.#events?.onChange(key, value);
      else this.#hasMissed = true;
    }, this.#heardMs - nowMs);
  }

  /** The connection breaks. */
  lose(): void {
    this.#hasMissed = true;
  }

  claim(key: string, value: string): Promise<boolean> {
    return this.#transact(() => {
      const lease = this.#lease;
      return lease !== null && !this.#keys.keys.has(key) && this.#put(key, value, lease);
    });
  }

  pass(
    key: string,
    from: string,
    { value, lease }: { readonly value: string; readonly lease: string },
  ): Promise<boolean> {
    return this.#transact(() => this.#keys.keys.get(key)?.value === from && this.#put(key, value, lease));
  }

  release(key: string, value: string): Promise<boolean> {
    return this.#transact(() => {
      if (this.#keys.keys.get(key)?.value !== value) return false;
      this.#keys.remove(key);
      return true;
    });
  }

  async putFor(key: string, value: string, lifeS: number): Promise<void> {
    if (!this.#isReached) throw new Error("apart");
    this.#keys.put(key, value, this.#keys.grant(lifeS * 1_000));
  }

  async claimFor(key: string, value: string, lifeS: number): Promise<ClaimedKey> {
    if (!this.#isReached) throw new Error("apart");
    const known = this.#keys.keys.get(key);
    if (known !== undefined) return { value: known.value, revision: Number(known.lease) };
    const lease = this.#keys.grant(lifeS * 1_000);
    this.#keys.put(key, value, lease);
    return { value, revision: Number(lease) };
  }

  async claimOrRead(key: string, value: string): Promise<string> {
    if (!this.#isReached || this.#lease === null) throw new Error("apart");
    const known = this.#keys.keys.get(key);
    if (known === undefined) this.#keys.put(key, value, this.#lease);
    return known?.value ?? value;
  }

  async remove(key: string): Promise<void> {
    if (!this.#isReached) throw new Error("apart");
    this.#keys.remove(key);
  }

  async stop(): Promise<void> {
    this.#enter({ kind: "stopped" });
    if (this.#lease !== null && this.#isReached) this.#keys.end(this.#lease);
  }

  /** A write. Its answer may be lost although it was made. */
  async #transact(write: () => boolean): Promise<boolean> {
    await this.#travel();
    if (this.#keys.isFull) {
      this.#keys.refused += 1;
      if (this.#phase.kind === "joined") this.#enter({ ...this.#phase, problem: "full" });
      return false;
    }
    const isWritten = this.#isReached && write();
    await this.#travel();
    return isWritten && this.#isReached;
  }

  async #travel(): Promise<void> {
    const ms = this.#keys.latencyMs();
    if (ms > 0) await new Promise<void>((resolve) => void this.#clock.setTimer(() => resolve(), ms));
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
    if (this.#phase.kind === "joined" && this.#phase.problem !== null && !this.#keys.isFull)
      this.#enter({ ...this.#phase, problem: null });
    this.#clock.setTimer(() => this.#tick(), this.#phase.kind === "joined" ? this.#leaseMs / 3 : 500);
  }

  #join(): void {
    if (this.#lease === null || !this.#keys.leases.has(this.#lease)) this.#lease = this.#keys.grant();
    this.#hasMissed = false;
    this.#connection += 1;
    this.registerAgain();
    this.#enter({ kind: "joined", lease: this.#lease, problem: null });
    this.#events?.onAll(new Map([...this.#keys.keys].map(([key, { value }]) => [key, value])));
  }

  #enter(phase: StorePhase): void {
    this.#phase = phase;
    this.#events?.onPhase(phase);
  }
}
