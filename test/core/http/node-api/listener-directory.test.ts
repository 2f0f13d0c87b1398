import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { loadConfig } from "../../../../src/app/registry/config.ts";
import { listenerDirectory } from "../../../../src/core/http/node-api/listener-directory.ts";
import { writeConfigFile } from "../../../fake/config-file.ts";

/** The ports that a listener names to a client, from the addresses of both ends of the connection. */
function portsNamed(
  context: Parameters<typeof writeConfigFile>[0],
  listen: string,
  { ends: [local, remote], bound = 0 }: { readonly ends: [string, string]; readonly bound?: number },
): string {
  const text = `clusters: [{ name: demo, discover: ["http://10.0.0.1:8008"] }]\nlisten: [${listen}]\n`;
  const loaded = loadConfig({ file: writeConfigFile(context, text), env: {}, flags: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const [own] = loaded.config.listen;
  assert.ok(own !== undefined);
  const describe = listenerDirectory(own, loaded.config.listen, () => bound);
  const message = { socket: { localAddress: local, remoteAddress: remote } } as unknown as IncomingMessage;
  const { listener, listeners } = describe(message);
  return [listener, ...listeners.map(({ dialect, port }) => `${dialect}:${port}`)].join(" ");
}

const health = "{ address: 0.0.0.0, port: 8008 }";
const auth = "auth: { for: all, bearer: [tokens] }";
const rows: readonly (readonly [title: string, listen: string, ends: [string, string], ports: string])[] = [
  [
    "a loopback admin listener to loopback",
    `${health}, { dialect: admin, port: 9108 }`,
    ["127.0.0.1", "127.0.0.1"],
    "node admin:9108",
  ],
  [
    "no loopback admin listener to others",
    `${health}, { dialect: admin, port: 9108 }`,
    ["10.0.0.5", "10.0.0.9"],
    "node",
  ],
  [
    "an admin listener on all addresses",
    `${health}, { dialect: admin, address: 0.0.0.0, port: 9108, ${auth} }`,
    ["::ffff:10.0.0.5", "10.0.0.9"],
    "node admin:9108",
  ],
  [
    "no admin listener on another address",
    `${health}, { dialect: admin, address: 10.0.0.6, port: 9108, ${auth} }`,
    ["10.0.0.5", "10.0.0.9"],
    "node",
  ],
  [
    "no admin listener that does not admit the client",
    `${health}, { dialect: admin, address: 0.0.0.0, port: 9108, allow: [10.1.0.0/16], ${auth} }`,
    ["10.0.0.5", "10.0.0.9"],
    "node",
  ],
  ["no further health listeners", `${health}, { port: 8009 }`, ["127.0.0.1", "127.0.0.1"], "node"],
  [
    "all listeners, if it is an admin listener",
    `{ dialect: admin, port: 9108 }, ${health}`,
    ["127.0.0.1", "127.0.0.1"],
    "admin admin:9108 node:8008",
  ],
  ["no listener that is not open yet", `${health}, { dialect: admin, port: 0 }`, ["127.0.0.1", "127.0.0.1"], "node"],
];
for (const [title, listen, ends, ports] of rows)
  test(`names ${title}`, (context) => assert.equal(portsNamed(context, listen, { ends }), ports));

test("names the port that the system chose", (context) =>
  assert.equal(
    portsNamed(context, `${health}, { dialect: admin, port: 0 }`, { ends: ["127.0.0.1", "127.0.0.1"], bound: 40_123 }),
    "node admin:40123",
  ));
