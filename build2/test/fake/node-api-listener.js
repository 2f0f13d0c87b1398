import { connect } from "node:net";
import { unrestrictedAccess } from "../../src/config/model/listener-access-config.js";
import { Listener } from "../../src/http/listener/listener.js";
import { answerDiagnostics } from "../../src/http/diagnostics/diagnostics-api.js";
import { NodeApi } from "../../src/http/node-api/node-api.js";
import { PageGate } from "../../src/http/pages/page-gate.js";
export function listenerScopeOf(parts = {}) {
    return { cluster: null, node: null, wholeCluster: false, clusters: ["demo"], hostSuffixes: [], ...parts };
}
export function routingContextOf(parts = {}, rules = {}) {
    return {
        scope: listenerScopeOf(parts),
        rules: { ignoreParams: ["be"], ignoresUnknown: false, defaults: "", lagTimeMsLeast: 2_000, ...rules },
        passes: false,
        operatorPages: true,
    };
}
export function requestOf(target, parts = {}) {
    return { method: "GET", target, host: undefined, nodeHeader: undefined, serverState: undefined, ...parts };
}
/** A node-dialect listener on a free port that answers for a watched cluster at one instant. */
export class NodeApiListener {
    port;
    answers;
    errors;
    constructor(port, answers, errors) {
        this.port = port;
        this.answers = answers;
        this.errors = errors;
    }
    /** Sends bytes as they are. Resolves to all received bytes when the connection is closed. */
    sendBytes(bytes) {
        return new Promise((resolve, reject) => {
            const socket = connect(this.port, "127.0.0.1");
            let received = "";
            socket.setEncoding("latin1");
            socket.on("data", (text) => (received += text));
            socket.on("error", reject);
            socket.on("close", () => resolve(received));
            socket.write(bytes, "latin1");
        });
    }
    /** Sends one request on a connection of its own, and parses the answer. */
    async request(target, options = {}) {
        const lines = [
            `${options.method ?? "GET"} ${target} HTTP/1.1`,
            "Host: any",
            "Connection: close",
            ...(options.headers ?? []),
        ];
        return parseAnswer(await this.sendBytes(`${lines.join("\r\n")}\r\n\r\n`));
    }
}
export function parseAnswer(text) {
    const cut = text.indexOf("\r\n\r\n");
    const [line = "", ...lines] = text.slice(0, cut).split("\r\n");
    const headers = new Map(lines.map((header) => [
        header.slice(0, header.indexOf(":")),
        header.slice(header.indexOf(":") + 2),
    ]));
    return { line, status: Number(line.split(" ")[1]), headers, body: text.slice(cut + 4) };
}
export async function openNodeApiListener(context, watched, options = {}) {
    const [answers, errors] = [[], []];
    const inputs = () => ({
        snapshot: {
            instance: "run",
            sequence: 7,
            clusters: [{ ...watched.cluster, sequence: 7 }],
            index: new Map([["demo", 0]]),
        },
        policy: (cluster) => (cluster === "demo" ? watched.policy : undefined),
        nowMs: options.nowMs ?? 0,
        unready: () => options.unready ?? null,
    });
    const { policy, nowMs } = inputs();
    const operator = {
        gate: new PageGate(),
        snapshot: () => inputs().snapshot,
        policy,
        now: () => nowMs,
        wall: () => nowMs,
        changes: () => [],
        evidence: async () => ({ recorded: [], accused: new Map(), sinceWallMs: null, isComplete: true }),
        events: () => [],
        storedEvents: async () => ({ events: [], isComplete: true }),
    };
    const routing = options.routing ?? routingContextOf();
    const dialect = new NodeApi(routing, {
        inputs,
        snapshot: operator.snapshot,
        now: operator.now,
        operator: (call) => answerDiagnostics(call, routing.scope, operator),
        passthrough: rejectingPassthrough,
        onAnswer: (route, status) => answers.push(`${route} ${status}`),
    });
    const listener = new Listener((call) => dialect.handle(call), unrestrictedAccess, collectErrors(errors));
    const port = await listener.open({ address: "127.0.0.1", port: 0 });
    context.after(() => listener.close(0));
    return new NodeApiListener(port, answers, errors);
}
/** The events of a listener of which a test only needs the errors. */
export function collectErrors(errors) {
    return { onError: (error) => errors.push(error), onRejected: () => { }, onFiles: () => { } };
}
/** A passthrough that no request may reach: a request here is an error of the test. */
export const rejectingPassthrough = {
    manage: () => Promise.reject(new Error("a management call that must not be forwarded")),
    fetch: () => Promise.reject(new Error("a request to a node that must not be forwarded")),
};
//# sourceMappingURL=node-api-listener.js.map