import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { withFaultyGateway } from "../fake/faulty-gateway-fixture.js";
/** Headers that a node sends, and what the client receives; `null`: the header is removed. */
const rows = [
    [
        "headers in rolecall's name",
        { "x-rolecall-reason": "none", "x-rolecall-node": "pg9", "x-rolecall-anything": "1", "x-request-id": "theirs" },
        { "x-rolecall-reason": null, "x-rolecall-node": "pg2", "x-rolecall-anything": null, "x-request-id": "ours" },
    ],
    [
        "hop-by-hop headers",
        {
            connection: "x-hop, keep-alive",
            "keep-alive": "timeout=999",
            "x-hop": "1",
            "proxy-authenticate": "Basic",
            te: "trailers",
        },
        { "x-hop": null, "proxy-authenticate": null, te: null },
    ],
    ["a cookie", { "set-cookie": "a=b" }, { "set-cookie": null }],
    [
        "headers that apply to the whole origin",
        {
            "alt-svc": 'h2="evil:443"',
            "strict-transport-security": "max-age=1",
            "access-control-allow-origin": "*",
            refresh: "0;url=//evil.example",
            "clear-site-data": "*",
        },
        {
            "alt-svc": null,
            "strict-transport-security": null,
            "access-control-allow-origin": null,
            refresh: null,
            "clear-site-data": null,
        },
    ],
    ["a Location on another host", { location: "http://evil.example/x" }, { location: null }],
    ["a Location without a scheme, on another host", { location: "//evil.example/x" }, { location: null }],
    ["a Location with backslashes", { location: "/\\evil.example" }, { location: null }],
    ["a Location that is no http", { location: "javascript:alert(1)" }, { location: null }],
    ["a Location on another port of the client's host", { location: "http://edge.example:81/x" }, { location: null }],
    [
        "a Location on the host that the client named",
        { location: "http://edge.example/x" },
        { location: "http://edge.example/x" },
    ],
    ["a Location that is a path", { location: "/x?y" }, { location: "/x?y" }],
    ["a Location beside the path", { location: "x" }, { location: "x" }],
    ["a challenge without a 401", { "www-authenticate": "Basic" }, { "www-authenticate": null }],
    [
        "end-to-end headers",
        { "x-node": "yes", etag: '"1"', "retry-after": "3" },
        { "x-node": "yes", etag: '"1"', "retry-after": "3" },
    ],
];
suite("headers of a node's answer that reach the client", () => {
    for (const [given, sent, got] of rows) {
        test(given, async () => {
            const behave = (_, response) => void response.writeHead(202, sent).end("done");
            await withFaultyGateway({ respond: behave }, async (gateway) => {
                const headers = { host: "edge.example", "x-request-id": "ours" };
                const answer = await gateway.request("/nodes/pg2/reload", { method: "POST", headers });
                assert.equal(answer.status, 202);
                const shown = Object.fromEntries(Object.keys(got).map((name) => [name, answer.headers[name] ?? null]));
                assert.deepEqual(shown, got);
                assert.notEqual(answer.headers["keep-alive"], "timeout=999");
            });
        });
    }
    test("a node's own 401 with its challenge, and the credential that answers it", async () => {
        const behave = ({ headers }, response) => {
            if (headers["authorization"] === "Basic bm9kZTpzZWNyZXQ=")
                response.end("done");
            else
                response.writeHead(401, { "www-authenticate": 'Basic realm="node"' }).end();
        };
        await withFaultyGateway({ respond: behave }, async (gateway) => {
            const challenge = await gateway.request("/nodes/pg2/reload", { method: "POST" });
            assert.equal(challenge.status, 401);
            assert.equal(challenge.headers["www-authenticate"], 'Basic realm="node"');
            const headers = { authorization: "Basic bm9kZTpzZWNyZXQ=" };
            assert.equal((await gateway.request("/nodes/pg2/reload", { method: "POST", headers })).status, 200);
        });
    });
});
//# sourceMappingURL=answer-head.test.js.map