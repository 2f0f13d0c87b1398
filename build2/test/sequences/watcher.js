import { once } from "node:events";
import { connect } from "node:net";
/** The key of `GET /primary` of a node, requested once a round. */
const isPlainPrimary = /^\S+ \/primary$/;
/**
 * Requests the checks of one cluster over one connection, each round in one write. Records every change of an answer.
 */
export class Watcher {
    changes = new Map();
    /** The longest wait of a round for its answers, in seconds. On an overloaded machine no judgement is possible. */
    slowest = 0;
    /** Instants at which more than one `GET /primary` of a round was fit, in two consecutive rounds. */
    doubles = [];
    #looks;
    #now;
    #socket;
    #batch;
    #answers = [];
    #rest = "";
    #sentAt = -1;
    #hadTwo = false;
    #timer = null;
    constructor(socket, looks, now) {
        this.#looks = looks;
        this.#now = now;
        this.#batch = looks.map(({ path, host }) => `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`).join("");
        this.#socket = socket;
        this.#socket.setEncoding("latin1").on("data", (text) => this.#read(text));
        this.#socket.on("close", () => this.stop());
        this.#socket.on("error", () => this.stop());
    }
    /** Connects, so that the first round does not have to. */
    static async open(port, looks, now) {
        const socket = connect(port, "127.0.0.1");
        await once(socket, "connect");
        return new Watcher(socket, looks, now);
    }
    start(everyMs) {
        this.#timer = setInterval(() => this.#look(), everyMs);
    }
    stop() {
        if (this.#timer !== null)
            clearInterval(this.#timer);
        this.#timer = null;
        this.#socket.destroy();
    }
    #look() {
        if (this.#sentAt >= 0)
            return;
        this.#sentAt = this.#now();
        this.#socket.write(this.#batch);
    }
    #read(text) {
        this.#rest += text;
        for (;;) {
            const end = this.#rest.indexOf("\r\n\r\n");
            if (end < 0)
                return;
            this.#answers.push(answerOf(this.#rest.slice(0, end)));
            this.#rest = this.#rest.slice(end + 4);
            if (this.#answers.length === this.#looks.length)
                this.#take(this.#answers.splice(0));
        }
    }
    #take(answers) {
        this.slowest = Math.max(this.slowest, this.#now() - this.#sentAt);
        let primaries = 0;
        for (const [at, { key }] of this.#looks.entries()) {
            const answer = answers[at] ?? "";
            if (answer === "fit" && isPlainPrimary.test(key))
                primaries += 1;
            const known = this.changes.get(key) ?? [];
            this.changes.set(key, known);
            if (known.at(-1)?.answer !== answer)
                known.push({ at: this.#sentAt, answer });
        }
        if (primaries > 1 && this.#hadTwo)
            this.doubles.push(this.#sentAt);
        this.#hadTwo = primaries > 1;
        this.#sentAt = -1;
    }
}
function answerOf(head) {
    const status = head.slice(9, 12);
    if (status === "200")
        return "fit";
    const reason = /\r\nx-rolecall-reason: ([^\r]*)/i.exec(head)?.[1];
    return reason ?? (status === "400" ? "bad_request" : status);
}
//# sourceMappingURL=watcher.js.map