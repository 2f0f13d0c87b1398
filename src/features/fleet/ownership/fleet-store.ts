/** Where the connection to the store of the fleet is. */
export type StorePhase =
  | { readonly kind: "joining" }
  /**
   * The lease of this member lives, and changes are seen as they happen. `problem`: why nothing can be written; `null`:
   * it can.
   */
  | { readonly kind: "joined"; readonly lease: string; readonly problem: string | null }
  /** Nothing is known of the fleet since. */
  | { readonly kind: "apart"; readonly problem: string }
  | { readonly kind: "stopped" };

/** What the store announces. */
export interface StoreEvents {
  readonly onPhase: (phase: StorePhase) => void;
  /** All keys of the fleet, when it has joined. */
  readonly onAll: (entries: ReadonlyMap<string, string>) => void;
  /** A key has changed. `null`: it is gone. */
  readonly onChange: (key: string, value: string | null) => void;
}

/** A key that one member claims. */
export interface ClaimedKey {
  readonly value: string;
  /** When it was written: a number that grows with every change of the store. */
  readonly revision: number;
}

/**
 * Where members of a fleet see each other: keys that live as long as the lease of their member, and changes that are made
 * only if what they are based on still holds. Keys are without the folder of the fleet.
 */
export interface FleetStore {
  /** Joins, and joins again whenever the connection is lost. @param register the key of this member, and its value by lease */
  start(register: { readonly key: string; readonly value: (lease: string) => string }, events: StoreEvents): void;
  /** Writes the member's own key again. */
  registerAgain(): void;
  /** Writes a key under this member's lease, if there is none. @returns whether it was written; never rejects */
  claim(key: string, value: string): Promise<boolean>;
  /** Changes a key from one value to another, under another lease, if it has the first. */
  pass(key: string, from: string, to: { readonly value: string; readonly lease: string }): Promise<boolean>;
  /** Deletes a key that has this value. */
  release(key: string, value: string): Promise<boolean>;
  /** Writes a key that ends by itself. @param lifeS in s @throws Error if it cannot be written */
  putFor(key: string, value: string, lifeS: number): Promise<void>;
  /**
   * Writes a key that ends by itself, if there is none. A key with this value is the caller's own.
   * @param lifeS in s
   * @returns what the key holds now
   * @throws Error if that is not known
   */
  claimFor(key: string, value: string, lifeS: number): Promise<ClaimedKey>;
  /**
   * Writes a key under this member's lease, if there is none.
   * @returns what the key holds now
   * @throws Error if that is not known
   */
  claimOrRead(key: string, value: string): Promise<string>;
  /** Deletes a key. @throws Error if it cannot be deleted */
  remove(key: string): Promise<void>;
  /** Ends the lease, so that others go on at once. */
  stop(): Promise<void>;
}
