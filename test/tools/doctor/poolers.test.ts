import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import type { FakeConsole } from "../../fake/fake-console.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { goodConsole, shownDatabase as database } from "../../fake/good-console.ts";

/**
 * Runs doctor with these poolers.
 * @returns rule, severity and message of each finding about them; that they do not hold clients after a loss is none
 */
async function findings(context: TestContext, poolers: string): Promise<readonly (readonly string[])[]> {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const configured = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}", database: "127.0.0.7:5432" }`);
  writeFileSync(
    file,
    `clusters: [{ name: demo, nodes: [${configured.join(", ")}] }]\nlisten: [{ port: 0 }]\npoolers: ${poolers}\n`,
  );
  const { diagnostics, coverage } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
  assert.ok(coverage.some(({ id }) => id === "poolers"));
  return diagnostics
    .filter(({ rule_id: id }) => (id.startsWith("RC20") && id !== "RC204") || id === "RC006")
    .map(({ rule_id: id, severity, message }) => [id, severity, message]);
}

test("RC006: names the token of a peer that cannot be read", async (context) => {
  const fake = goodConsole();
  await fake.listen(context);
  const peers = `[{ url: "https://core2:9108", token_file: none }]`;
  const found = await findings(context, `[${pooler(fake)}]\npeers: ${peers}`);
  assert.deepEqual(
    found.map(([rule, , message = ""]) => [rule, message.replace(/\/\S*\/none( cannot be read).*/, "FILE$1")]),
    [["RC006", "peers[0].token_file: FILE cannot be read"]],
  );
});

const pooler = ({ port }: FakeConsole, more = ""): string =>
  `{ name: pgb1, pgbouncer: { address: "127.0.0.1:${port}", user: rolecall${more} }, databases: [{ name: orders }] }`;

test("finds nothing wrong with a pooler that is set up well, and changes nothing there", async (context) => {
  const fake = goodConsole();
  await fake.listen(context);
  assert.deepEqual(await findings(context, `[${pooler(fake)}]`), []);
  assert.deepEqual(
    fake.commands.filter((command) => !command.startsWith("SHOW ")),
    ["PAUSE pgbouncer"],
  );
});

test("RC200 to RC203: reports what keeps a switchover from holding the clients", async (context) => {
  const fake = goodConsole();
  const { answer } = fake;
  fake.answer = (command) => {
    if (command === "PAUSE pgbouncer") return { error: "admin access needed" };
    if (command === "SHOW CLIENTS") return [];
    if (command === "SHOW PEERS") return { error: `invalid command '${command}'` };
    if (command === "SHOW VERSION") return [{ version: "PgBouncer 1.18.0" }];
    if (command !== "SHOW DATABASES") return answer(command);
    return [
      { name: "orders", host: "127.0.0.7", ...database, port: 5432 },
      { name: "reports", host: "127.0.0.7", ...database, port: 5432 },
    ];
  };
  await fake.listen(context);
  assert.deepEqual(
    (await findings(context, `[${pooler(fake)}]`)).map(([rule, severity, message = ""]) => [
      rule,
      severity,
      message.slice(0, 60),
    ]),
    [
      ["RC200", "error", "pooler pgb1: user rolecall must be in admin_users, got stats"],
      ["RC201", "error", "pooler pgb1: address must reach one process, got two consoles"],
      ["RC202", "error", "pooler pgb1/orders: must lead to a balancer or have a file, "],
      ["RC202", "error", "pooler pgb1/reports: must be among databases, because it lead"],
      ["RC203", "warning", "pooler pgb1: must be PgBouncer 1.21 or later for clients with"],
    ].map(([rule, severity, message = ""]) => [rule, severity, message.slice(0, 60)]),
  );
});

test("RC200: reports a console that cannot be reached, does not answer, or is none", async (context) => {
  const [silent, other] = [goodConsole(), goodConsole()];
  silent.login = { kind: "silence" };
  other.login = { kind: "bytes", bytes: Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n") };
  await silent.listen(context);
  await other.listen(context);
  const gone = `{ name: gone, pgbouncer: { address: /no/such/folder, user: rolecall, password_file: none }, databases: [{ name: orders }] }`;
  const list = [gone, pooler(silent).replace("pgb1", "silent"), pooler(other).replace("pgb1", "other")].join(", ");
  const found = await findings(context, `[${list}]`);
  assert.deepEqual(
    found
      .map(([rule, , message = ""]) => [
        rule,
        message.replace(/127\.0\.0\.1:\d+/, "ADDRESS").replace(/\/\S*\/none( cannot be read).*/, "FILE$1"),
      ])
      .sort(([, one = ""], [, two = ""]) => one.localeCompare(two)),
    [
      ["RC200", "pooler gone: Cannot use the console at /no/such/folder: the socket does not exist (ENOENT)"],
      [
        "RC200",
        "pooler other: Cannot use the console at ADDRESS: the server sent a message of another protocol: is it the console of a PgBouncer?",
      ],
      ["RC200", "pooler silent: Cannot use the console at ADDRESS: no complete answer within 2000 ms"],
      ["RC006", "poolers[0].pgbouncer.password_file: FILE cannot be read"],
    ],
  );
});

test("RC203, RC204: recommends hold_on_loss from the times of the cluster", async (context) => {
  const fake = goodConsole();
  await fake.listen(context);
  const nodes = await openFakeCluster(context, ["pg1"]);
  const folder = mkdtempSync(join(tmpdir(), "rolecall-doctor-test-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  const configured = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}", database: "127.0.0.7:5432" }`);
  const advice = async (more: string): Promise<readonly string[]> => {
    const own = pooler(fake).replace(/ }$/, `${more} }`);
    writeFileSync(
      file,
      `clusters: [{ name: demo, nodes: [${configured.join(", ")}] }]\nlisten: [{ port: 0 }]\nstate_file: ${folder}/state.json\npoolers: [${own}]\n`,
    );
    const { diagnostics } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
    return diagnostics.flatMap(({ rule_id: id, severity, message }) =>
      message.includes("hold_on_loss") || id === "RC204" ? [`${id} ${severity} ${message}`] : [],
    );
  };
  const why = "cluster demo may have no primary for 45 s (ttl 30 s, loop_wait 10 s, 5 s for the promotion)";
  assert.deepEqual(await advice(""), [
    `RC204 info pooler pgb1: PgBouncer refuses clients after the loss of a primary: ${why}`,
  ]);
  assert.deepEqual(await advice(", hold_on_loss: 30s"), [
    `RC203 warning pooler pgb1: hold_on_loss must be at least 45s, got 30s: ${why}`,
  ]);
  assert.deepEqual(await advice(", hold_on_loss: 45s"), []);
});
