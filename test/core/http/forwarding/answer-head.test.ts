import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { FakeNodeOptions } from "../../../fake/fake-node.ts";
import { withFaultyGateway } from "../../../fake/faulty-gateway-fixture.ts";

const inert = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "sandbox; default-src 'none'",
};

/** Headers that a node sends, and what the client receives; `null`: the header is removed. */
const rows: readonly (readonly [
  given: string,
  sent: Readonly<Record<string, string>>,
  got: Readonly<Record<string, string | null>>,
])[] = [
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
  ...[
    "text/html",
    "TEXT/HTML; charset=utf-8",
    "image/svg+xml",
    "text/xml",
    "application/xhtml+xml",
    "text/javascript",
    "multipart/x-mixed-replace; boundary=a",
    "text/plain, text/html",
    "text/plain;text/html",
    "application/json; x=<script>",
    "odd",
  ].map((type): (typeof rows)[number] => [
    `the content type ${type}, which is not in the list`,
    { "content-type": type },
    { "content-type": "text/plain; charset=utf-8", ...inert },
  ]),
  ["no content type", {}, { "content-type": "text/plain; charset=utf-8", ...inert }],
  ...[
    "application/json",
    "text/plain; version=0.0.4; charset=utf-8",
    "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores",
  ].map((type): (typeof rows)[number] => [
    `the content type ${type}, which programs expect`,
    { "content-type": type },
    { "content-type": type, ...inert },
  ]),
  [
    "a policy that lets scripts run",
    {
      "content-security-policy": "script-src *",
      "x-content-type-options": "sniff",
      link: "</x>; rel=preload; as=script",
      "content-disposition": "attachment; filename=a.html",
      "reporting-endpoints": 'a="https://evil.example"',
    },
    { ...inert, link: null, "content-disposition": null, "reporting-endpoints": null },
  ],
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
      const behave: FakeNodeOptions["respond"] = (_, response) => void response.writeHead(202, sent).end("done");
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

  test("a page of a node that is a script is inert too: metrics, the exporter's pages, and calls", async () => {
    const behave: FakeNodeOptions["respond"] = (_, response) =>
      void response
        .writeHead(200, { "content-type": "text/html", "set-cookie": "a=b" })
        .end("<script>alert(1)</script>");
    await withFaultyGateway({ respond: behave }, async (gateway) => {
      for (const [path, method] of [
        ["/nodes/pg2/metrics", "GET"],
        ["/nodes/pg2/reload", "POST"],
      ] as const) {
        const { status, headers } = await gateway.request(path, { method, headers: { cookie: "login=1" } });
        assert.equal(status, 200, path);
        assert.equal(headers["content-type"], "text/plain; charset=utf-8", path);
        assert.equal(headers["x-content-type-options"], inert["x-content-type-options"], path);
        assert.equal(headers["content-security-policy"], inert["content-security-policy"], path);
        assert.equal(headers["set-cookie"], undefined, path);
      }
    });
  });

  test("a node's own 401 with its challenge, and the credential that answers it", async () => {
    const behave: FakeNodeOptions["respond"] = ({ headers }, response) => {
      if (headers["authorization"] === "Basic bm9kZTpzZWNyZXQ=") response.end("done");
      else response.writeHead(401, { "www-authenticate": 'Basic realm="node"' }).end();
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
