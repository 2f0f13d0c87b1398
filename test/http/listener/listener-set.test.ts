import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { after, suite, test } from "node:test";
import { hashOf } from "../../../src/cli/commands/hash-password.ts";
import type { ListenerAccess } from "../../../src/config/model/listener-access-config.ts";
import { ask, until, type Asking } from "../../fake/ask.ts";
import { Authority } from "../../fake/authority.ts";
import { nodeOf } from "../../fake/config.ts";
import { serveOddNode, type OddNode } from "../../fake/odd-node.ts";
import { buildTownOf, type Town } from "../../fake/town.ts";

const authority = new Authority();
const stranger = new Authority("stranger");
const folder = mkdtempSync(join(tmpdir(), "rolecall-doors-"));
const listener = authority.issue("listener");
const client = authority.issue("edge client");
const foreign = stranger.issue("foreign client");
const [ann, ben] = [hashOf("ann's password"), hashOf("b:en")];
const tokens = join(folder, "tokens");
writeFileSync(tokens, "# deploys\ntoken-one\n\ntoken-two\n");
after(() => {
  authority.remove();
  stranger.remove();
  rmSync(folder, { recursive: true });
});

const tls = {
  cert: listener.cert,
  key: listener.key,
  ca: authority.ca,
  minVersion: "TLSv1.2",
  client: "optional",
} as const;
const auth = {
  for: "unsafe",
  basic: [
    { user: "ann", scrypt: ann },
    { user: "ben", scrypt: ben },
  ],
  bearer: [tokens],
  certificate: true,
} as const;

async function withDoor(
  door: Partial<ListenerAccess>,
  play: (town: Omit<Town, "simulator">, node: OddNode) => Promise<void>,
): Promise<void> {
  const pg1 = await serveOddNode({ name: "pg1", holdsLock: true });
  const town = await buildTownOf([nodeOf(pg1)], { door });
  try {
    await play(town, pg1);
  } finally {
    await town.close();
    await pg1.close();
  }
}

const restart = (asking: Asking = {}): Asking => ({ method: "POST", ...asking });
const basic = (said: string): Asking =>
  restart({ headers: { authorization: `Basic ${Buffer.from(said).toString("base64")}` } });
const bearer = (token: string): Asking => restart({ headers: { authorization: `Bearer ${token}` } });
const trusting = { ca: readFileSync(authority.ca) };
const certified = { ...trusting, cert: readFileSync(client.cert), key: readFileSync(client.key) };
const misled = { ...trusting, cert: readFileSync(foreign.cert), key: readFileSync(foreign.key) };

suite("credentials for calls that change something", () => {
  const rows: readonly (readonly [string, Asking, number, string?])[] = [
    ["none", restart(), 401],
    ["a right password", basic("ann:ann's password"), 200, "ann"],
    ["a right password a second time, from memory", basic("ann:ann's password"), 200, "ann"],
    ["a password with a colon", basic("ben:b:en"), 200, "ben"],
    ["a wrong password", basic("ann:guess"), 401],
    ["another user's password", basic("ben:ann's password"), 401],
    ["an unknown user", basic("eve:guess"), 401],
    ["no user", basic(":guess"), 401],
    ["no Base64", restart({ headers: { authorization: "Basic ??? ???" } }), 401],
    ["a right token", bearer("token-two"), 200, "tokens:4"],
    ["a wrong token", bearer("token-three"), 401],
    ["a comment of the token file", bearer("#"), 401],
    ["a scheme nobody knows", restart({ headers: { authorization: "Digest x" } }), 401],
  ];
  for (const [given, asking, status, who] of rows) {
    test(given, async () => {
      await withDoor({ auth: { ...auth, certificate: false } }, async (town, pg1) => {
        const answer = await town.ask("/nodes/pg1/restart", asking);
        assert.equal(answer.status, status);
        assert.equal(
          answer.headers["www-authenticate"]?.startsWith('Basic realm="rolecall"'),
          status === 401 ? true : undefined,
        );
        assert.equal(pg1.received.length, status === 200 ? 1 : 0);
        // What let the caller in here is none of the node's business.
        assert.equal(pg1.received[0]?.headers["authorization"], undefined);
        if (who !== undefined)
          assert.equal(
            (await until("an audit line", () => town.log.find(({ msg }) => msg === "management call")))["who"],
            who,
          );
        else
          assert.ok(
            town.log.some(
              ({ msg, from, status: told }) => msg === "request rejected" && from === "127.0.0.1" && told === 401,
            ),
          );
      });
    });
  }
  test("health checks need none, unless auth is for all", async () => {
    await withDoor({ auth: { ...auth, certificate: false } }, async (town) =>
      assert.equal((await town.ask("/nodes/pg1/primary")).status, 200),
    );
    await withDoor({ auth: { ...auth, certificate: false, for: "all" } }, async (town) => {
      assert.equal((await town.ask("/nodes/pg1/primary")).status, 401);
      assert.equal((await town.ask("/nodes/pg1/primary", { headers: bearer("token-one").headers ?? {} })).status, 200);
    });
  });
  test("a token that is added counts from then on, one that is taken away no longer", async () => {
    const changing = join(folder, "changing");
    writeFileSync(changing, "old\n");
    await withDoor({ auth: { ...auth, basic: [], bearer: [changing], certificate: false } }, async (town) => {
      assert.equal((await town.ask("/nodes/pg1/restart", bearer("old"))).status, 200);
      writeFileSync(changing, "new\n");
      await until("the new token", async () =>
        (await town.ask("/nodes/pg1/restart", bearer("new"))).status === 200 ? true : undefined,
      );
      assert.equal((await town.ask("/nodes/pg1/restart", bearer("old"))).status, 401);
    });
  });
  test("a storm of guesses is told to come back, and who was let in before still comes in", async () => {
    await withDoor({ auth: { ...auth, bearer: [], certificate: false } }, async (town) => {
      assert.equal((await town.ask("/nodes/pg1/restart", basic("ann:ann's password"))).status, 200);
      const guesses = Promise.all(
        Array.from({ length: 40 }, (_, at) => town.ask("/nodes/pg1/restart", basic(`ann:guess${at}`))),
      );
      assert.equal((await town.ask("/nodes/pg1/restart", basic("ann:ann's password"))).status, 200);
      assert.equal((await town.ask("/nodes/pg1/primary")).status, 200);
      const statuses = (await guesses).map(({ status }) => status);
      assert.ok(statuses.includes(429), statuses.join());
      assert.ok(
        statuses.every((status) => status === 401 || status === 429),
        statuses.join(),
      );
    });
  });
});

test("the log line of a rejected call holds its path, but not its query, where clients put tokens", async () => {
  await withDoor({ auth: { ...auth, certificate: false } }, async (town) => {
    assert.equal((await town.ask("/nodes/pg1/restart?token=sesame", restart())).status, 401);
    const line = await until("the line", () => town.log.find(({ msg }) => msg === "request rejected"));
    assert.equal(line["call"], "POST /nodes/pg1/restart?…");
  });
});

test("a flood of rejected calls is a bounded number of lines, and one that tells how many more there were", async () => {
  let log: Town["log"] = [];
  await withDoor({ auth: { ...auth, certificate: false } }, async (town) => {
    for (let at = 0; at < 120; at += 1) assert.equal((await town.ask("/nodes/pg1/restart", restart())).status, 401);
    const { body } = await ask(`${town.admin}/metrics`);
    assert.match(body, /^rolecall_requests_rejected_total\{status="401"\} 120$/m);
    log = town.log;
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

suite("networks", () => {
  const rows: readonly (readonly [string, Partial<ListenerAccess>, number, number])[] = [
    ["the caller's own", { allow: ["127.0.0.0/8"] }, 200, 200],
    ["a single address", { allow: ["127.0.0.1"] }, 200, 200],
    ["another", { allow: ["10.0.0.0/8", "::1"] }, 403, 403],
    ["another, for calls that change something only", { allow: ["10.0.0.0/8"], allowFor: "unsafe" }, 200, 403],
    ["none", { allow: [] }, 403, 403],
  ];
  for (const [given, door, check, call] of rows) {
    test(given, async () => {
      await withDoor(door, async (town) => {
        assert.equal((await town.ask("/nodes/pg1/primary")).status, check);
        assert.equal((await town.ask("/nodes/pg1/restart", restart())).status, call);
      });
    });
  }
  test("an IPv4 caller of a socket for both families counts by its IPv4 address", async () => {
    const pg1 = await serveOddNode({ name: "pg1", holdsLock: true });
    const town = await buildTownOf([nodeOf(pg1)], { listener: { address: "::" }, door: { allow: ["127.0.0.1/32"] } });
    try {
      assert.equal((await town.ask("/nodes/pg1/primary")).status, 200);
    } finally {
      await town.close();
      await pg1.close();
    }
  });
});

suite("TLS", () => {
  test("a client certificate that the authority signed lets in, a foreign one and none do not", async () => {
    await withDoor({ tls, auth: { ...auth, basic: [], bearer: [] } }, async (town) => {
      assert.equal((await town.ask("/nodes/pg1/primary", { tls: trusting })).status, 200);
      assert.equal((await town.ask("/nodes/pg1/restart", restart({ tls: trusting }))).status, 401);
      assert.equal((await town.ask("/nodes/pg1/restart", restart({ tls: misled }))).status, 401);
      assert.equal((await town.ask("/nodes/pg1/restart", restart({ tls: certified }))).status, 200);
      assert.equal(
        (await until("an audit line", () => town.log.find(({ msg }) => msg === "management call")))["who"],
        "certificate edge client",
      );
    });
  });
  test("where client certificates are required nobody comes in without", async () => {
    await withDoor({ tls: { ...tls, client: "required" } }, async (town) => {
      await assert.rejects(town.ask("/nodes/pg1/primary", { tls: trusting }));
      await assert.rejects(town.ask("/nodes/pg1/primary", { tls: misled }));
      assert.equal((await town.ask("/nodes/pg1/primary", { tls: certified })).status, 200);
    });
  });
  test("versions below the least are not spoken", async () => {
    await withDoor({ tls: { ...tls, minVersion: "TLSv1.3" } }, async (town) => {
      await assert.rejects(town.ask("/nodes/pg1/primary", { tls: { ...trusting, maxVersion: "TLSv1.2" } }));
      assert.equal((await town.ask("/nodes/pg1/primary", { tls: trusting })).status, 200);
    });
  });
  test("a new certificate is taken up while a connection made with the old one goes on", async () => {
    const [cert, key] = [join(folder, "moving.pem"), join(folder, "moving.key")];
    copyFileSync(listener.cert, cert);
    copyFileSync(listener.key, key);
    await withDoor({ tls: { ...tls, cert, key } }, async (town) => {
      const port = Number(new URL(town.url).port);
      const held = connect({ host: "127.0.0.1", port, ...trusting });
      await new Promise((resolve) => held.once("secureConnect", resolve));
      const renewed = authority.issue("renewed listener");
      copyFileSync(renewed.key, key);
      copyFileSync(renewed.cert, cert);
      await until("the new certificate", () =>
        subjectAt(port).then((name) => (name === "renewed listener" ? true : undefined)),
      );
      held.write("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n");
      const [first] = await new Promise<Buffer[]>((resolve) => held.once("data", (...data: Buffer[]) => resolve(data)));
      assert.match(String(first), /^HTTP\/1\.1 200 /);
      held.destroy();
    });
  });
  test("a file that turned unusable is told of, and what was read before stays in force", async () => {
    const [cert, key] = [join(folder, "spoilt.pem"), join(folder, "spoilt.key")];
    copyFileSync(listener.cert, cert);
    copyFileSync(listener.key, key);
    await withDoor({ tls: { ...tls, cert, key } }, async (town) => {
      writeFileSync(cert, "no certificate");
      await until("a line", () =>
        town.log.find(({ msg, problem }) => msg === "files of a listener read" && problem !== null),
      );
      assert.equal((await town.ask("/nodes/pg1/primary", { tls: trusting })).status, 200);
    });
  });
  test("plain HTTP on a TLS port gets nothing, and does no harm", async () => {
    await withDoor({ tls }, async (town) => {
      await assert.rejects(ask(town.url.replace("https", "http")));
      assert.equal((await town.ask("/nodes/pg1/primary", { tls: trusting })).status, 200);
    });
  });
});

function subjectAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, ...trusting }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
