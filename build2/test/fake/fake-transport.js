import { NodeClient } from "../../src/probe/client/client.js";
import { ClusterFixture } from "./cluster-fixture.js";
import { answerProbe } from "./node-documents.js";
/** A transport that answers probes from a script instead of sockets. The test moves the clock. */
export class FakeTransport {
    fixture;
    recorded = [];
    results = [];
    /** Every request: when it was sent, and its URL. */
    sent = [];
    closed = [];
    respond;
    random = 0.5;
    nowMs = 0;
    /** Called with each new state; tests set it to a cluster prober's `onChange`. */
    onState = () => { };
    #timers;
    constructor(context, watched, script) {
        context.mock.timers.enable({ apis: ["setTimeout"] });
        this.#timers = context.mock.timers;
        this.fixture = watched;
        this.respond = script;
    }
    context(pace = {}) {
        return {
            cluster: "demo",
            schedule: {
                intervalMs: 1_000,
                burstIntervalMs: 250,
                livenessIntervalMs: 10_000,
                clusterIntervalMs: 3_000,
                configIntervalMs: 30_000,
                metricsIntervalMs: 3_000,
                timeoutMs: 2_500,
                fall: 3,
                ...pace,
            },
            policy: this.fixture.policy,
            state: () => this.fixture.cluster,
            record: (outcome) => {
                const before = this.fixture.cluster;
                this.recorded.push(outcome);
                this.onState(before, this.fixture.record(outcome, this.nowMs));
            },
            now: () => this.nowMs,
            wall: () => 1_700_000_000_000 + this.nowMs,
            random: () => this.random,
            connect: (origin) => new ScriptedClient(origin, this),
            onProbeFinished: (result) => this.results.push(result),
        };
    }
    /** When the requests whose URL ends so were sent, in ms. */
    sentAt(end) {
        return this.sent.filter(({ url }) => url.endsWith(end)).map(({ atMs }) => atMs);
    }
    /** Moves the clock in steps of 50 ms, and runs what becomes due. */
    async advance(ms) {
        await runPendingTasks();
        for (let passed = 0; passed < ms; passed += 50) {
            this.nowMs += 50;
            this.#timers.tick(50);
            await runPendingTasks();
        }
    }
}
class ScriptedClient extends NodeClient {
    #origin;
    #scripted;
    constructor(origin, scripted) {
        super(origin, { connectTimeoutMs: 1, timeoutMs: 1 }, null);
        this.#origin = origin;
        this.#scripted = scripted;
    }
    async get(path) {
        this.#scripted.sent.push({ atMs: this.#scripted.nowMs, url: `${this.#origin}${path}` });
        return this.#scripted.respond(this.#origin, path);
    }
    close() {
        this.#scripted.closed.push(this.#origin);
        super.close();
    }
}
export function jsonReply(value, status = 200) {
    return { status, body: Buffer.from(JSON.stringify(value)) };
}
export function failedReply(kind) {
    return { failure: { kind, detail: `a scripted ${kind}` } };
}
/** Answers as a healthy cluster of the given names at `http://{name}:8008`. The first one leads. */
export function healthyCluster(names) {
    const members = new Map(names.map((name) => [name, `http://${name}:8008`]));
    return (origin, path) => {
        const { hostname: name } = new URL(origin);
        if (path === "/config")
            return jsonReply({ ttl: 1_000 });
        const { status, document } = answerProbe({ name, leader: names[0] ?? "", members, fields: {} }, path) ?? notServed;
        return document === undefined ? { status, body: Buffer.alloc(0) } : jsonReply(document, status);
    };
}
const notServed = { status: 502 };
export function neverReplies() {
    return new Promise(() => { });
}
/** Runs all tasks that are ready. */
export async function runPendingTasks() {
    for (let time = 0; time < 10; time += 1)
        await new Promise((resolve) => void setImmediate(resolve));
}
//# sourceMappingURL=fake-transport.js.map