import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { BasicUser } from "../../config/model/listener-access-config.ts";
import { parseScryptHash, type ScryptHash } from "../../config/values/scrypt-hash.ts";
import { PasswordQueue, type PasswordSource, type PasswordVerdict } from "./password-queue.ts";

/** How many correct passwords are cached, as keyed digests: a balancer may send one with each check. */
const cachedMax = 1_000;
/** How long they are cached, in ms. */
const cachedMs = 10 * 60_000;

/** A check in progress, and the clients that wait for it. */
interface PendingCheck {
  readonly clients: PasswordSource[];
  readonly verdict: Promise<PasswordVerdict>;
}

/** One queue for the process: more listeners must not give more threads to a client that guesses passwords. */
const processQueue = new PasswordQueue();

/** Checks the passwords of one listener's users. */
export class BasicAuth {
  readonly #hashes: ReadonlyMap<string, ScryptHash>;
  readonly #queue: PasswordQueue;
  readonly #key = randomBytes(32);
  readonly #correct = new LRUCache<string, true>({ max: cachedMax, ttl: cachedMs });
  /** Checks in progress by digest: clients that send the same password share one. */
  readonly #pending = new Map<string, PendingCheck>();
  readonly #decoy: ScryptHash;

  /** @param queue limits how many passwords are hashed at a time */
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

  /** Checks a password: at once if it was correct recently. An unknown user takes as long as a wrong password. */
  check(user: string, password: string, source: PasswordSource): PasswordVerdict | Promise<PasswordVerdict> {
    const digest = createHmac("sha256", this.#key).update(`${user}\n${password}`).digest("base64");
    if (this.#correct.has(digest)) return "right";
    const pending = this.#pending.get(digest);
    if (pending !== undefined) {
      pending.clients.push(source);
      return pending.verdict;
    }
    const clients = [source];
    const all = { address: source.address, hasLeft: () => clients.every((client) => client.hasLeft()) };
    const verdict = this.#queue.add(all, () => this.#verify(user, password, digest));
    if (verdict === null) return "busy";
    const done = verdict.finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, { clients, verdict: done });
    return done;
  }

  async #verify(user: string, password: string, digest: string): Promise<PasswordVerdict> {
    const known = this.#hashes.get(user);
    const isCorrect = await matches(password, known ?? this.#decoy);
    if (known === undefined || !isCorrect) return "wrong";
    this.#correct.set(digest, true);
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
