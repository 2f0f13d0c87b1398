import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { httpFeed } from "../../../../src/features/follow/follower/http-feed.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

// A key in etcd is somebody's word for where a member is: the token of the fleet goes nowhere in clear text for it (issue
// 55, row 9).

const limit = { timeout: 30_000 };
const request = {
  protocol: 1,
  version: "9",
  name: "x",
  token: 1,
  clusters: [],
  isOwner: true,
  resume: null,
  canMove: true,
};
const tokenFile = join(temporaryFolder("stated-address"), "token");
writeFileSync(tokenFile, "fleet-token\n");

/** Opens a stream. @returns why it ended */
function endOf(url: string, stated?: { readonly mayBeHere: boolean }): Promise<string> {
  return new Promise((resolve) => {
    const upstream = { url, tls: null, tokenFile, ...(stated === undefined ? {} : { stated }) };
    httpFeed(upstream)(request, { onMessage: () => {}, onBytes: () => {}, onEnd: resolve });
  });
}

/** Opens what takes tokens. @returns its address, and what it was sent */
async function openThief(context: TestContext) {
  const tokens: unknown[] = [];
  const server = createServer((received, response) => {
    tokens.push(received.headers.authorization);
    response.writeHead(403).end();
  });
  return { url: `http://127.0.0.1:${await listenDuringTest(context, server)}`, tokens };
}

test("a stated http address gets no token", limit, async () => {
  for (const url of ["http://192.0.2.1:9108", "http://evil.example:9108", "http://127.0.0.1.evil.example"])
    assert.equal(await endOf(url, { mayBeHere: true }), `Cannot send the token: the address must be https, got ${url}`);
});

test("neither does one of this machine that a member elsewhere cannot have", limit, async (context) => {
  const { url, tokens } = await openThief(context);
  assert.match(await endOf(url, { mayBeHere: false }), /must be one of another machine/);
  assert.deepEqual(tokens, []);
});

test("a fleet on one machine, and an upstream that is configured, get it", limit, async (context) => {
  const { url, tokens } = await openThief(context);
  assert.equal(await endOf(url, { mayBeHere: true }), "it answered 403");
  assert.equal(await endOf(url), "it answered 403");
  assert.deepEqual(tokens, ["Bearer fleet-token", "Bearer fleet-token"]);
});
