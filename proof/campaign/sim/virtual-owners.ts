import type { FeedTransport } from "../../../src/features/follow/open-follow.ts";
import type { OwnerLife } from "./plan.ts";
import { type OwnerParts, VirtualOwner } from "./virtual-owner.ts";

/** What each owner has in common. */
interface OwnersParts extends Omit<OwnerParts, "life" | "settlingMs" | "chance"> {
  readonly life: OwnerLife;
  /** For how long the lock lasts, in ms. */
  readonly ttlMs: number;
  /** The random numbers of each one. */
  readonly chances: () => OwnerParts["chance"];
}

/**
 * How long after a mishap a follower may still judge by what it had then, in ms. Alone: as long as views count, and a rest;
 * after its death for as long as the lock lasts, too, of which the DCS may have said something just before; of two: until
 * the other one has told the same.
 */
const settling = { aloneMs: 20_000, ofTwoMs: 5_000 } as const;

/** Those that the subject follows. */
export class VirtualOwners {
  readonly #owners: ReadonlyMap<string, VirtualOwner>;

  constructor({ life, ttlMs, chances, onMishap, ...parts }: OwnersParts) {
    const lives = life === "pair" ? (["calm", "restarting"] as const) : [life];
    const aloneMs = settling.aloneMs + (life === "dead" ? ttlMs : 0);
    const settlingMs = life === "pair" ? settling.ofTwoMs : aloneMs;
    this.#owners = new Map(
      lives.map((each, at) => {
        const name = `owner${at + 1}`;
        const about = {
          life: each,
          settlingMs,
          chance: chances(),
          onMishap: (text: string) => onMishap(`${name}: ${text}`),
        };
        return [`http://${name}:9108`, new VirtualOwner({ ...parts, ...about })];
      }),
    );
  }

  /** Where the subject finds them. */
  get urls(): readonly string[] {
    return [...this.#owners.keys()];
  }

  /** As {@link VirtualOwner.excuses}. */
  excuses(rule: string): boolean {
    return this.#each((owner) => owner.excuses(rule)).includes(true);
  }

  async begin(): Promise<void> {
    await Promise.all(this.#each((owner) => owner.begin()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#each((owner) => owner.stop()));
  }

  calm(isCalm: boolean): void {
    this.#each((owner) => owner.calm(isCalm));
  }

  /**
   * The subject was restarted. Of two owners the first that answers gives it all that it knows, though less may be known
   * there; without any it waits before it probes.
   * @returns whether one of them has all that it was told since the run began
   */
  remembers(): boolean {
    const remembering = this.#each((owner) => owner.remembers).includes(true);
    if (this.#owners.size > 1 || !remembering) this.#each((owner) => owner.settle(settling.aloneMs));
    return remembering;
  }

  /** How the subject opens a stream. */
  readonly openFeed: FeedTransport["open"] = (upstream) => {
    const owner = this.#owners.get(upstream.url);
    if (owner === undefined) throw new Error(`Cannot follow ${upstream.url}: there is no such owner`);
    return owner.openFeed(upstream);
  };

  #each<T>(of: (owner: VirtualOwner) => T): readonly T[] {
    return [...this.#owners.values()].map(of);
  }
}
