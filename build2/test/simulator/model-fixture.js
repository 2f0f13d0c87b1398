import assert from "node:assert/strict";
import { serveApi } from "../../src/simulator/api/api.js";
import { createCluster, simulatedNodeNamed } from "../../src/simulator/model/cluster.js";
import { injectFault } from "../../src/simulator/model/faults.js";
import { isJsonObject } from "../../src/simulator/model/json.js";
import { advance } from "../../src/simulator/model/model.js";
/** The start time of every fixture, in ms since the epoch. */
export const beginMs = Date.parse("2026-11-21T06:00:00Z");
/**
 * Creates a cluster: ttl 20 s, loop_wait 2 s, a switchover takes 2 s, 1000 bytes of WAL a second. `config` overrides
 * that.
 */
export function createModelFixture(nodes, config = {}) {
    const cluster = createCluster({
        scope: "demo",
        nodes,
        nowMs: beginMs,
        config: {
            ttl: 20,
            loop_wait: 2,
            retry_timeout: 3,
            maximum_lag_on_failover: 1_048_576,
            postgresql: { parameters: {} },
            ...config,
        },
        timing: { switchoverMs: 2000, walBytesPerSecond: 1000 },
    });
    for (const node of cluster.nodes)
        node.apiUrl = `http://${node.name}/patroni`;
    const pass = (ms) => advance(cluster, cluster.nowMs + ms);
    pass(0);
    const node = (name) => simulatedNodeNamed(cluster, name) ?? assert.fail(`no node ${name}`);
    const ask = (name, method, target, body) => {
        const [path = "/", search = ""] = target.split("?");
        const query = new Map([...new URLSearchParams(search)].filter(([, value]) => value !== ""));
        const request = {
            method,
            path,
            head: path.split("/")[1] ?? "",
            query,
            accept: "",
            body: body === undefined ? undefined : JSON.stringify(body),
        };
        const served = serveApi({ cluster, node: node(name), vocabulary: "patroni" }, request);
        if (served.kind === "answer")
            return served.answer;
        const { status, text } = outcomeOf(served, pass);
        return { kind: "full", status, contentType: "text/html", body: text };
    };
    return {
        cluster,
        pass,
        node,
        fault: (name, fault) => {
            injectFault(cluster, node(name), fault);
            pass(0);
        },
        ask,
        document: (name, target) => {
            const answer = ask(name, "GET", target);
            const document = answer.kind === "full" ? JSON.parse(answer.body) : undefined;
            return isJsonObject(document) ? document : assert.fail(`${target} of ${name} is no document`);
        },
        status: (name, target) => ask(name, "GET", target).status,
        leaders: () => cluster.nodes.filter(({ name }) => ask(name, "GET", "/leader").status === 200).map(({ name }) => name),
    };
}
function outcomeOf(call, pass) {
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 100) {
        const reply = call.poll();
        if (reply !== undefined)
            return reply;
        pass(100);
    }
    return call.timeoutReply;
}
//# sourceMappingURL=model-fixture.js.map