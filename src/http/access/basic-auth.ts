import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { BasicUser } from "../../config/model/listener-access-config.ts";
import { parseScryptHash, type ScryptHash } from "../../config/values/scrypt-hash.ts";
import { PasswordQueue } from "./password-queue.ts";

/** Passwords found right that are remembered, as keyed digests, so that a balancer that sends one at each check costs nothing. */
const rememberedMax = 1_000;
/** How long they are remembered, in ms. */
const rememberedMs = 10 * 60_000;

/** Whether a password is right; `busy` where too many are being checked. */
export type PasswordVerdict = "right" | "wrong" | "busy";

/** Who sends a password. */
export interface PasswordSource {
  readonly address: string;
  /** Whether the client has left, so that nobody needs the answer. */
  readonly hasLeft: () => boolean;
}

interface Shared {
  readonly clients: PasswordSource[];
  readonly verdict: Promise<PasswordVerdict>;
}

/** Of the whole process: a listener more must not be a thread more for those who guess. */
const processQueue = new PasswordQueue();

/** The users of one listener. */
export class BasicAuth {
  readonly #hashes: ReadonlyMap<string, ScryptHash>;
  readonly #queue: PasswordQueue;
  readonly #key = randomBytes(32);
  readonly #right = new LRUCache<string, true>({ max: rememberedMax, ttl: rememberedMs });
  /** Passwords that are being checked: all who send one share its check. */
  readonly #underWay = new Map<string, Shared>();
  readonly #decoy: ScryptHash;

  /** @param queue bounds the work on passwords; one for all listeners of the process */
  constructor(users: readonly BasicUser[], queue: PasswordQueue = processQueue) {
    this.#queue = queue;
    this.#hashes = new Map(
      users.flatMap(({ user, scrypt: text }) => {
        const hash = parseScryptHash(text);
        return hash === undefined ? [] : [[user, hash] as const];
      }),
    );
    const [first] = this.#hashes.values();
    this.#decoy = {
      ...(first ?? { costLog2: 15, blockSize: 8, parallel: 1 }),
      salt: randomBytes(16),
      hash: randomBytes(32),
    };
  }

  /** Checks a password: at once where it was right lately. An unknown user takes as long as a wrong password. */
  check(user: string, password: string, source: PasswordSource): PasswordVerdict | Promise<PasswordVerdict> {
    const digest = createHmac("sha256", this.#key).update(`${user}\n${password}`).digest("base64");
    if (this.#right.has(digest)) return "right";
    const shared = this.#underWay.get(digest);
    if (shared !== undefined) {
      shared.clients.push(source);
      return shared.verdict;
    }
    const clients = [source];
    const all = { address: source.address, hasLeft: () => clients.every((client) => client.hasLeft()) };
    const verdict = this.#queue.add(all, () => this.#work(user, password, digest));
    if (verdict === null) return "busy";
    const settled = verdict.finally(() => this.#underWay.delete(digest));
    this.#underWay.set(digest, { clients, verdict: settled });
    return settled;
  }

  async #work(user: string, password: string, digest: string): Promise<PasswordVerdict> {
    const known = this.#hashes.get(user);
    const isRight = await matches(password, known ?? this.#decoy);
    if (known === undefined || !isRight) return "wrong";
    this.#right.set(digest, true);
    return "right";
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
