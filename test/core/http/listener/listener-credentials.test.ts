import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { hashOf } from "../../../../src/cli/commands/hash-password.ts";
import { sendRequest, type RequestParts } from "../../../fake/http-request.ts";
import { until } from "../../../fake/until.ts";
import type { GatewayFixture } from "../../../fake/gateway-fixture.ts";
import { restart, withListener } from "./listener-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-credentials-"));
after(() => rmSync(folder, { recursive: true }));
const tokens = join(folder, "tokens");
writeFileSync(tokens, "# deploys\ntoken-one\n\ntoken-two\n");
const auth = {
  for: "unsafe",
  basic: [
    { user: "ann", scrypt: hashOf("ann's password") },
    { user: "ben", scrypt: hashOf("b:en") },
  ],
  bearer: [tokens],
  certificate: false,
} as const;
const basic = (text: string): RequestParts =>
  restart({ headers: { authorization: `Basic ${Buffer.from(text).toString("base64")}` } });
const bearer = (token: string): RequestParts => restart({ headers: { authorization: `Bearer ${token}` } });

suite("credentials for calls that change something", () => {
  const rows: readonly (readonly [string, RequestParts, number, string?])[] = [
    ["none", restart(), 401],
    ["a right password", basic("ann:ann's password"), 200, "ann"],
    ["a right password a second time", basic("ann:ann's password"), 200, "ann"],
    ["a password with a colon", basic("ben:b:en"), 200, "ben"],
    ["a wrong password", basic("ann:guess"), 401],
    ["another user's password", basic("ben:ann's password"), 401],
    ["an unknown user", basic("eve:guess"), 401],
    ["no user", basic(":guess"), 401],
    ["invalid Base64", restart({ headers: { authorization: "Basic ??? ???" } }), 401],
    ["a right token", bearer("token-two"), 200, "tokens:4"],
    ["a wrong token", bearer("token-three"), 401],
    ["a comment of the token file", bearer("#"), 401],
    ["an unknown scheme", restart({ headers: { authorization: "Digest x" } }), 401],
  ];
  for (const [given, parts, status, who] of rows) {
    test(given, async () => {
      await withListener({ auth }, async (gateway, pg1) => {
        const answer = await gateway.request("/nodes/pg1/restart", parts);
        assert.equal(answer.status, status);
        assert.equal(
          answer.headers["www-authenticate"]?.startsWith('Basic realm="rolecall"'),
          status === 401 ? true : undefined,
        );
        assert.equal(pg1.received.length, status === 200 ? 1 : 0);
        // Credentials for this listener must not reach the node.
        assert.equal(pg1.received[0]?.headers["authorization"], undefined);
        if (who !== undefined)
          assert.equal(
            (await until("an audit line", () => gateway.logRecords.find(({ msg }) => msg === "management call")))[
              "who"
            ],
            who,
          );
        else
          assert.ok(
            gateway.logRecords.some(
              ({ msg, from, status: logged }) => msg === "request rejected" && from === "127.0.0.1" && logged === 401,
            ),
          );
      });
    });
  }
  test("health checks need no credentials unless auth is for all", async () => {
    await withListener({ auth }, async (gateway) =>
      assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200),
    );
    await withListener({ auth: { ...auth, for: "all" } }, async (gateway) => {
      assert.equal((await gateway.request("/nodes/pg1/primary")).status, 401);
      assert.equal(
        (await gateway.request("/nodes/pg1/primary", { headers: bearer("token-one").headers ?? {} })).status,
        200,
      );
    });
  });
  test("a token that is added is valid from then on, and one that is removed is not", async () => {
    const changing = join(folder, "changing");
    writeFileSync(changing, "old\n");
    await withListener({ auth: { ...auth, basic: [], bearer: [changing] } }, async (gateway) => {
      assert.equal((await gateway.request("/nodes/pg1/restart", bearer("old"))).status, 200);
      writeFileSync(changing, "new\n");
      await until("the new token", async () =>
        (await gateway.request("/nodes/pg1/restart", bearer("new"))).status === 200 ? true : undefined,
      );
      assert.equal((await gateway.request("/nodes/pg1/restart", bearer("old"))).status, 401);
    });
  });
  test("a flood of wrong passwords gets 429, and a known user is still accepted", async () => {
    await withListener({ auth: { ...auth, bearer: [] } }, async (gateway) => {
      assert.equal((await gateway.request("/nodes/pg1/restart", basic("ann:ann's password"))).status, 200);
      const guesses = Promise.all(
        Array.from({ length: 40 }, (_, at) => gateway.request("/nodes/pg1/restart", basic(`ann:guess${at}`))),
      );
      assert.equal((await gateway.request("/nodes/pg1/restart", basic("ann:ann's password"))).status, 200);
      assert.equal((await gateway.request("/nodes/pg1/primary")).status, 200);
      const statuses = (await guesses).map(({ status }) => status);
      assert.ok(statuses.includes(429), statuses.join());
      assert.ok(
        statuses.every((status) => status === 401 || status === 429),
        statuses.join(),
      );
    });
  });
});

test("the log line of a rejected call has its path but not its query, where clients put tokens", async () => {
  await withListener({ auth }, async (gateway) => {
    assert.equal((await gateway.request("/nodes/pg1/restart?token=sesame", restart())).status, 401);
    const line = await until("the line", () => gateway.logRecords.find(({ msg }) => msg === "request rejected"));
    assert.equal(line["call"], "POST /nodes/pg1/restart?…");
  });
});

test("a flood of rejected calls is a bounded number of log lines, and one that counts the rest", async () => {
  let log: GatewayFixture["logRecords"] = [];
  await withListener({ auth }, async (gateway) => {
    for (let at = 0; at < 120; at += 1)
      assert.equal((await gateway.request("/nodes/pg1/restart", restart())).status, 401);
    const { body } = await sendRequest(`${gateway.adminUrl}/metrics`);
    assert.match(body, /^rolecall_requests_rejected_total\{status="401",reason="unauthorized"\} 120$/m);
    log = gateway.logRecords;
  });
  const lines = log.filter(({ msg }) => msg === "request rejected").length;
  assert.ok(lines >= 50 && lines < 120, `${lines} lines`);
  const omitted = log.flatMap((line) => (typeof line["omitted"] === "number" ? [line["omitted"]] : []));
  assert.equal(lines + omitted.reduce((sum, count) => sum + count, 0), 120);
  assert.match(
    String(log.findLast((line) => "omitted" in line)?.["msg"]),
    /^requests rejected: … and \d+ more in 10 s$/,
  );
});
