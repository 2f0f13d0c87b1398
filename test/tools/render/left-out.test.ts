import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { parseAllDocuments } from "yaml";
import { runText } from "../../fake/command-line.ts";
import { assertValidHaproxy } from "../../fake/valid-haproxy.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-left-out-"));
after(() => rmSync(folder, { recursive: true }));

const oddHosts = [
  "..",
  ".",
  ".x",
  "x..y",
  "-x",
  "999.1.1.1",
  "1.2.3",
  "a".repeat(64),
  `${"a.".repeat(130)}a`,
  "a b",
  "a\nb",
];

/** A configuration whose only seed lists these members. */
async function configListing(context: TestContext, members: readonly object[]): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/cluster" ? 200 : 503);
    response.end(request.url === "/cluster" ? JSON.stringify({ members }) : "{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const config = join(folder, "odd.yaml");
  const { port } = server.address() as AddressInfo;
  writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", discover: [`http://127.0.0.1:${port}`] }] }));
  return config;
}

test("hosts that a node states of its members: those that HAProxy cannot read are left out, with their names", async (context) => {
  const hosts = [...oddHosts, "10.0.0.1", "nosuch.invalid", "a_b.", "fd00::1"];
  const config = await configListing(
    context,
    hosts.map((host, at) => ({
      name: `pg${at}`,
      role: "replica",
      api_url: `http://127.0.0.1:${at + 1}/`,
      host,
      port: 5432,
    })),
  );
  for (const kind of ["haproxy", "envoy"]) {
    const { code, out, err } = await runText(["render", kind, "--config", config]);
    assert.equal(code, 0, err);
    for (const [at] of oddHosts.entries()) {
      assert.match(out, new RegExp(`^# demo/pg${at} is left out`, "m"));
      assert.ok(err.includes(`demo/pg${at} is left out`), err);
    }
    for (const host of hosts.slice(oddHosts.length)) assert.ok(out.includes(host), host);
    if (kind === "haproxy") assertValidHaproxy(out, folder);
  }
});

const hostileNames = [
  "..",
  'a"b',
  "a'b",
  "a\nb: c",
  "a\n[Service]\nExecStart=/bin/false",
  "- {a: [b",
  "{{ .Values.image }}",
  "${HOME} %n",
  "a #b",
  "\u202epg",
  "&a *b",
  "!!binary x",
];

for (const [kind, args] of [
  ["haproxy", []],
  ["envoy", []],
  ["prometheus", ["--node-metrics", "nodes", "--admin", "10.0.0.9:9108"]],
] as const)
  test(`render ${kind} ${args.join(" ")}: members with hostile names and API hosts are left out`, async (context) => {
    const named = hostileNames.map((name, at) => ({
      name,
      role: "replica",
      api_url: `http://127.0.0.1:${at + 1}/`,
      host: `10.0.0.${at + 1}`,
      port: 5432,
    }));
    const oddApis = ["..", ".x", "x..y", "999.1.1.1", "a".repeat(64)].map((host, at) => ({
      name: `pg${at}`,
      role: "replica",
      api_url: `http://${host}:8008/`,
      host: "10.1.0.1",
      port: 5432 + at,
    }));
    const good = {
      name: "good",
      role: "replica",
      api_url: "http://nosuch.invalid:8008/",
      host: "10.2.0.1",
      port: 5432,
    };
    const config = await configListing(context, [...named, ...oddApis, good]);
    const { code, out, err } = await runText(["render", kind, "--config", config, ...args]);
    assert.equal(code, 0, err);
    const comments = out.split("\n").filter((line) => line.includes("is left out"));
    assert.ok(
      comments.every((line) => /^# demo\/[ -~]*$/.test(line)),
      comments.join("\n"),
    );
    // Names with characters that control a terminal or the direction of text are no members at all.
    const count = hostileNames.filter((name) => !/[\n\u202e]/.test(name)).length;
    assert.equal(comments.filter((line) => line.startsWith('# demo/"')).length, count, out);
    assert.equal(err.split("\n").filter((line) => line.includes('demo/"')).length, count, err);
    if (kind === "haproxy") assertValidHaproxy(out, folder);
    const text = kind === "haproxy" ? "" : out;
    for (const document of parseAllDocuments(text)) {
      assert.deepEqual(document.errors, []);
      const plain = JSON.stringify(document.toJS());
      for (const odd of ["ExecStart", "Values.image", "10.0.0.3", "binary"]) assert.ok(!plain.includes(odd), plain);
      for (const host of ["//..", "//.x", "x..y", "999.1.1.1"]) assert.ok(!plain.includes(host), plain);
    }
    assert.ok(out.includes("nosuch.invalid") || out.includes("10.2.0.1"), out);
  });
