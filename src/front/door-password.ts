import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { BasicUser } from "../config/door-config.ts";
import { parseScryptHash, type ScryptHash } from "../config/scrypt-hash.ts";

/** How many passwords are worked on at a time: each takes a thread and tens of MiB. */
const atOnceMax = 2;
/** How many may wait for that; a further one is told to come back, so that a storm of guesses holds nobody up. */
const waitingMax = 16;
/** Passwords found right that are remembered, as keyed digests, so that a balancer that sends one at each check costs nothing. */
const rememberedMax = 1_000;

/** Whether a password is right; `busy` where too many are being checked. */
export type PasswordVerdict = "right" | "wrong" | "busy";

/** The users of one listener. */
export class Passwords {
  readonly #hashes: ReadonlyMap<string, ScryptHash>;
  readonly #key = randomBytes(32);
  readonly #right = new LRUCache<string, true>({ max: rememberedMax });
  readonly #waiting: (() => void)[] = [];
  readonly #decoy: ScryptHash;
  #working = 0;

  constructor(users: readonly BasicUser[]) {
    this.#hashes = new Map(
      users.flatMap(({ user, scrypt: text }) => {
        const hash = parseScryptHash(text);
        return hash === undefined ? [] : [[user, hash] as const];
      }),
    );
    const [first] = this.#hashes.values();
    this.#decoy = { ...(first ?? { costLog2: 15, blockSize: 8, parallel: 1 }), salt: randomBytes(16), hash: randomBytes(32) };
  }

  /** Checks a password: at once where it was right before. An unknown user takes as long as a wrong password. */
  check(user: string, password: string): PasswordVerdict | Promise<PasswordVerdict> {
    const digest = createHmac("sha256", this.#key).update(`${user}\n${password}`).digest("base64");
    if (this.#right.has(digest)) return "right";
    if (this.#working >= atOnceMax && this.#waiting.length >= waitingMax) return "busy";
    return this.#work({ user, password, digest });
  }

  async #work({
    user,
    password,
    digest,
  }: {
    readonly user: string;
    readonly password: string;
    readonly digest: string;
  }): Promise<PasswordVerdict> {
    if (this.#working >= atOnceMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#working += 1;
    try {
      const known = this.#hashes.get(user);
      const isRight = await matches(password, known ?? this.#decoy);
      if (known === undefined || !isRight) return "wrong";
      this.#right.set(digest, true);
      return "right";
    } finally {
      this.#working -= 1;
      this.#waiting.shift()?.();
    }
  }
}

function matches(password: string, { costLog2, blockSize, parallel, salt, hash }: ScryptHash): Promise<boolean> {
  const cost = 2 ** costLog2;
  const options = { N: cost, r: blockSize, p: parallel, maxmem: 2 * 128 * cost * blockSize * parallel };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, hash.length, options, (error, derived) => {
      if (error === null) resolve(timingSafeEqual(derived, hash));
      else reject(error);
    });
  });
}
