import { createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { parseScryptHash } from "../../config/values/scrypt-hash.js";
import { PasswordQueue } from "./password-queue.js";
/** How many correct passwords are cached, as keyed digests: a balancer may send one with each check. */
const cachedMax = 1_000;
/** How long they are cached, in ms. */
const cachedMs = 10 * 60_000;
/** One queue for the process: more listeners must not give more threads to a client that guesses passwords. */
const processQueue = new PasswordQueue();
/** Checks the passwords of one listener's users. */
export class BasicAuth {
    #hashes;
    #queue;
    #key = randomBytes(32);
    #correct = new LRUCache({ max: cachedMax, ttl: cachedMs });
    /** Checks in progress by digest: clients that send the same password share one. */
    #pending = new Map();
    #decoy;
    /** @param queue limits how many passwords are hashed at a time */
    constructor(users, queue = processQueue) {
        this.#queue = queue;
        this.#hashes = new Map(users.flatMap(({ user, scrypt: text }) => {
            const hash = parseScryptHash(text);
            return hash === undefined ? [] : [[user, hash]];
        }));
        const [first] = this.#hashes.values();
        this.#decoy = {
            ...(first ?? { costLog2: 15, blockSize: 8, parallel: 1 }),
            salt: randomBytes(16),
            hash: randomBytes(32),
        };
    }
    /** Checks a password: at once if it was correct recently. An unknown user takes as long as a wrong password. */
    check(user, password, source) {
        const digest = createHmac("sha256", this.#key).update(`${user}\n${password}`).digest("base64");
        if (this.#correct.has(digest))
            return "right";
        const pending = this.#pending.get(digest);
        if (pending !== undefined) {
            pending.clients.push(source);
            return pending.verdict;
        }
        const clients = [source];
        const all = { address: source.address, hasLeft: () => clients.every((client) => client.hasLeft()) };
        const verdict = this.#queue.add(all, () => this.#verify(user, password, digest));
        if (verdict === null)
            return "busy";
        const done = verdict.finally(() => this.#pending.delete(digest));
        this.#pending.set(digest, { clients, verdict: done });
        return done;
    }
    async #verify(user, password, digest) {
        const known = this.#hashes.get(user);
        const isCorrect = await matches(password, known ?? this.#decoy);
        if (known === undefined || !isCorrect)
            return "wrong";
        this.#correct.set(digest, true);
        return "right";
    }
}
function matches(password, { costLog2, blockSize, parallel, salt, hash }) {
    const cost = 2 ** costLog2;
    const options = { N: cost, r: blockSize, p: parallel, maxmem: 2 * 128 * cost * blockSize * parallel };
    return new Promise((resolve, reject) => {
        scrypt(password, salt, hash.length, options, (error, derived) => {
            if (error === null)
                resolve(timingSafeEqual(derived, hash));
            else
                reject(error);
        });
    });
}
//# sourceMappingURL=basic-auth.js.map