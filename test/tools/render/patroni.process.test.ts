import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test, type TestContext } from "node:test";
import { parse } from "yaml";
import { listenDuringTest } from "../../fake/listen.ts";
import { renderClusters } from "../../fake/rendered-rows.ts";
import { until } from "../../fake/until.ts";

const folder = mkdtempSync(join(tmpdir(), "rolecall-patroni-"));
after(() => rmSync(folder, { recursive: true }));
const script = join(folder, "rolecall-hint");
const tokenFile = join(folder, "token");
writeFileSync(tokenFile, "hint-token");

interface RenderedFor {
  readonly clusters?: string;
  readonly listen?: readonly object[];
  readonly args?: readonly string[];
}

const renderFor = (
  to: readonly string[],
  { args = [], ...more }: RenderedFor = {},
): ReturnType<typeof renderClusters> =>
  renderClusters(folder, {
    kind: "patroni",
    clusters: "three",
    args: [
      ...to.flatMap((url) => ["--hint-to", url]),
      "--hint-token-file",
      tokenFile,
      "--hint-script",
      script,
      ...args,
    ],
    ...more,
  });

/** Writes the script for these listeners. */
async function install(to: readonly string[], args: readonly string[] = []): Promise<string> {
  const { code, out, err } = await renderFor(to, { args });
  assert.equal(code, 0, err);
  writeFileSync(script, out);
  chmodSync(script, 0o755);
  return out;
}

suite("the hint script", { timeout: 30_000 }, () => {
  for (const [args, query] of [
    ["on_role_change primary demo", "cluster=demo&node=pg1&event=promote"],
    ["on_role_change master demo", "cluster=demo&node=pg1&event=promote"],
    ["on_role_change standby_leader demo", "cluster=demo&node=pg1&event=promote"],
    ["on_role_change replica demo", "cluster=demo&node=pg1&event=stop"],
    ["on_role_change demoted demo", "cluster=demo&node=pg1&event=stop"],
    ["on_stop demoted demo", "cluster=demo&node=pg1&event=stop"],
    ["before_stop", "cluster=demo&node=pg1&event=stop"],
  ] as const)
    test(`sends ${query} for ${args}`, async (context) => {
      const received: IncomingMessage[] = [];
      const server = createServer((message, response) => {
        received.push(message);
        response.writeHead(202).end();
      });
      const port = await listenDuringTest(context, server);
      await install([`http://127.0.0.1:${port}`]);
      const ended = await run(["demo", "pg1", ...args.split(" ")]);
      assert.deepEqual(ended, { code: 0, text: "" });
      const [message] = await until("the hint", () => received.length > 0 && received);
      assert.deepEqual(
        [message?.method, message?.url, message?.headers.authorization],
        ["POST", `/hint?${query}`, "Bearer hint-token"],
      );
    });

  test("ends while a listener hangs, and reaches the others", async (context) => {
    let isReached = false;
    const hanging = createTcpServer(() => {});
    const server = createServer((_, response) => {
      isReached = true;
      response.end();
    });
    const ports = [await listenDuringTest(context, hanging), await listenDuringTest(context, server)];
    await install(ports.map((port) => `http://127.0.0.1:${port}`));
    const ended = await run(["demo", "pg1", "before_stop"]);
    assert.deepEqual(ended, { code: 0, text: "" });
    await until("the hint", () => isReached);
  });

  test("ends before a listener that accepts and never answers, whose connection ends by a deadline of its own", async (context) => {
    const order: string[] = [];
    const hanging = createTcpServer((socket) => {
      order.push("accepted");
      socket.on("close", () => order.push("given up")).on("error", () => {});
      socket.resume();
    });
    await install([`http://127.0.0.1:${await listenDuringTest(context, hanging)}`]);
    assert.deepEqual(await run(["demo", "pg1", "before_stop"]), { code: 0, text: "" });
    order.push("ended");
    await until("the deadline", () => order.includes("given up"));
    assert.ok(order.indexOf("ended") < order.indexOf("given up"), order.join());
    assert.equal(order.at(-1), "given up");
  });

  test("ends while a name is resolved, a server is unreachable, or a file of the token hangs", async () => {
    const [bin, gate, log] = [join(folder, "bin"), join(folder, "gate"), join(folder, "log")];
    mkdirSync(bin);
    spawnSync("mkfifo", [gate]);
    // A curl that does not come back: until the test lets it.
    writeFileSync(
      join(bin, "curl"),
      `#!/bin/sh\ncat >/dev/null\necho "$@" >>${log}\ncat ${gate} >/dev/null\necho done >>${log}\n`,
    );
    chmodSync(join(bin, "curl"), 0o755);
    await install(["http://rolecall.invalid:9109"]);
    const path = `${bin}:${process.env["PATH"]}`;
    assert.deepEqual(await run(["demo", "pg1", "before_stop"], path), { code: 0, text: "" });
    const sent = await until("the call", () => existsSync(log) && readFileSync(log, "utf8"));
    assert.match(sent, /--connect-timeout 1 --max-time 2 /);
    assert.doesNotMatch(sent, /done|hint-token/);
    writeFileSync(gate, "");
    await until("the end of the call", () => readFileSync(log, "utf8").includes("done"));

    rmSync(tokenFile);
    spawnSync("mkfifo", [tokenFile]);
    assert.deepEqual(await run(["demo", "pg1", "before_stop"], path), { code: 0, text: "" });
    writeFileSync(tokenFile, "");
    rmSync(tokenFile);
    writeFileSync(tokenFile, "hint-token");
  });

  test("does nothing for other callbacks, and refuses names that are no names", async () => {
    await install(["http://127.0.0.1:1"]);
    assert.deepEqual(await run(["demo", "pg1", "on_start", "primary", "demo"]), { code: 0, text: "" });
    for (const args of [[], ["demo"], ["demo", ""], ["de mo", "pg1"], ["demo", "pg1&node=pg2"], ["demo", "$(id)"]]) {
      const { code, text } = await run([...args]);
      assert.deepEqual([code, text], [2, "usage: rolecall-hint CLUSTER NODE [EVENT [ROLE]]\n"], args.join(" "));
    }
  });

  test("shows with test what a listener answers, and what is wrong with the token", async (context) => {
    const server = createServer((_, response) => response.writeHead(202).end("accepted"));
    const url = `http://127.0.0.1:${await listenDuringTest(context, server)}`;
    await install([url]);
    assert.deepEqual(await run(["demo", "pg1", "test"]), { code: 0, text: `${url}\naccepted\n` });
    writeFileSync(tokenFile, 'a "token"\n');
    const { code, text } = await run(["demo", "pg1", "test"]);
    writeFileSync(tokenFile, "hint-token");
    assert.equal(code, 1);
    assert.ok(text.includes(`rolecall-hint: the first line of ${tokenFile} must be a token`), text);
  });

  test("is valid for every shell of this machine, and its settings are YAML", async () => {
    const text = await install(["https://[::1]:9109", "https://rolecall2:9109"]);
    for (const shell of ["sh", "dash", "bash", "busybox"]) {
      const { error, status, stderr } = spawnSync(shell, [...(shell === "busybox" ? ["sh"] : []), "-n", script], {
        encoding: "utf8",
      });
      if (error === undefined) assert.equal(status, 0, stderr);
    }
    const [, settings = ""] = /^# cluster demo, node pg2:\n((?:# .*\n)+)/m.exec(text) ?? [];
    assert.deepEqual(parse(settings.replaceAll(/^# /gm, "")), {
      postgresql: {
        callbacks: { on_role_change: `${script} demo pg2`, on_stop: `${script} demo pg2` },
        before_stop: `${script} demo pg2 before_stop`,
      },
    });
    assert.ok(!text.includes("hint-token\n"), "the token is only in its file");
  });
});

suite("the hint script with --pause", { timeout: 30_000 }, () => {
  const pauseTokenFile = join(folder, "pausing");
  writeFileSync(pauseTokenFile, "pause-token");
  const installPause = async (to: readonly string[]): Promise<string> => {
    const text = await install(to, ["--pause", "--pause-token-file", pauseTokenFile]);
    assert.ok(!text.includes("pause-token"), "the token is only in its file");
    return text;
  };
  /** A listener that answers each call, and what it received. */
  const listener = async (
    context: TestContext,
    answer: (url: string) => number | null,
  ): Promise<{ readonly url: string; readonly received: readonly string[] }> => {
    const received: string[] = [];
    const server = createServer(({ url = "", headers }, response) => {
      received.push(`${url} ${headers.authorization}`);
      const status = answer(url);
      if (status !== null) response.writeHead(status).end();
    });
    return { url: `http://127.0.0.1:${await listenDuringTest(context, server)}`, received };
  };
  const hold = "/hint?cluster=demo&node=pg1&event=before_stop Bearer pause-token";
  const stop = "/hint?cluster=demo&node=pg1&event=stop Bearer hint-token";

  test("waits until the first rolecall that can holds clients, and asks no other; all get the hint", async (context) => {
    const unable = await listener(context, (url) => (url.endsWith("before_stop") ? 409 : 202));
    const able = await listener(context, () => 202);
    const spare = await listener(context, () => 202);
    await installPause(["http://127.0.0.1:1", unable.url, able.url, spare.url]);
    assert.deepEqual(await run(["demo", "pg1", "before_stop"]), { code: 0, text: "" });
    assert.deepEqual(
      [unable, able, spare].map(({ received }) => received.includes(hold)),
      [true, true, false],
    );
    await until("the hints", () => [unable, able, spare].every(({ received }) => received.includes(stop)));
  });

  test("ends after 1 s beside a rolecall that hangs", async (context) => {
    const hanging = await listener(context, () => null);
    await installPause([hanging.url]);
    // What ends it is `timeout 1`, whatever curl does.
    assert.deepEqual(await run(["demo", "pg1", "before_stop"]), { code: 0, text: "" });
    assert.ok(hanging.received.includes(hold));
  });

  test("ends without a word and with 0, whatever is wrong", async () => {
    await installPause(["http://127.0.0.1:1"]);
    rmSync(pauseTokenFile);
    assert.deepEqual(await run(["demo", "pg1", "before_stop"]), { code: 0, text: "" });
    spawnSync("mkfifo", [pauseTokenFile]);
    assert.deepEqual(await run(["demo", "pg1", "before_stop"]), { code: 0, text: "" });
    rmSync(pauseTokenFile);
    writeFileSync(pauseTokenFile, "pause-token");
  });

  test("holds nobody for callbacks", async (context) => {
    const able = await listener(context, () => 202);
    await installPause([able.url]);
    for (const args of ["on_stop demoted demo", "on_role_change replica demo"])
      assert.deepEqual(await run(["demo", "pg1", ...args.split(" ")]), { code: 0, text: "" });
    await until("the hints", () => able.received.length === 2);
    assert.deepEqual(new Set(able.received), new Set([stop]));
  });
});

suite("render patroni", () => {
  for (const [args, message] of [
    [["--hint-to", "10.0.0.1:9109"], "--hint-to must be http://HOST:PORT or https://HOST:PORT"],
    [["--hint-to", "https://10.0.0.1:9109/x"], "--hint-to must be http://HOST:PORT or https://HOST:PORT"],
    [["--hint-to", "https://a'b:9109"], "--hint-to must be HOST:PORT"],
    [["--hint-to", "https://h:1,https://h:1"], "--hint-to must be a different address each time"],
    [["--hint-script", "hint"], "--hint-script must be an absolute path"],
    [["--hint-token-file", "/a b"], "--hint-token-file must be an absolute path"],
    [["--hint-ca", "/$(id)"], "--hint-ca must be an absolute path"],
    [["--pause", "--pause-token-file", "t"], "--pause-token-file must be an absolute path"],
  ] as const)
    test(`refuses ${args.join(" ")}`, async () => {
      const { code, out, err } = await renderClusters(folder, { kind: "patroni", clusters: "three", args });
      assert.deepEqual([code, out], [2, ""]);
      assert.ok(err.includes(message), err);
    });

  test("reports a listener that other machines cannot reach, one without tokens, and one without TLS", async () => {
    const admin = { port: 9109, dialect: "admin" };
    const tokens = { hint_tokens: [tokenFile] };
    const stops = { before_stop_tokens: [{ cluster: "demo", file: tokenFile }] };
    for (const [listen, rules, args = []] of [
      [{ ...admin }, ["RC120", "RC120"]],
      [{ ...admin, ...tokens }, ["RC120"]],
      [{ ...admin, ...tokens, address: "10.0.0.1", read_only: true }, ["RC121"]],
      [{ ...admin, ...tokens, address: "10.0.0.1", read_only: true }, ["RC120", "RC121"], ["--pause"]],
      [{ ...admin, ...tokens, ...stops, address: "10.0.0.1", read_only: true }, ["RC121"], ["--pause"]],
    ] as const) {
      const { code, err } = await renderFor([], { listen: [{ port: 8008 }, listen], args });
      assert.equal(code, 0, err);
      assert.deepEqual(
        [...err.matchAll(/^warning (RC\d+)/gm)].map(([, rule]) => rule).filter((rule) => rule !== "RC122"),
        rules,
      );
    }
  });

  test("fails without an admin listener and without a node that has an API", async () => {
    const { code, err } = await renderFor([], { listen: [{ port: 8008 }] });
    assert.equal(code, 2);
    assert.match(err, /RC001 {2}--hint-to must name the admin listener of each rolecall/);
    const exporters = await renderFor(["https://h:9109"], { clusters: "only-exporters" });
    assert.match(exporters.err, /RC112 {2}Cannot render: no node of demo with an API is known/);
  });
});

/** Runs the script as Patroni does: waits for the process itself, not for what it leaves behind. */
function run(
  args: readonly string[],
  path = process.env["PATH"],
): Promise<{ readonly code: number | null; readonly text: string }> {
  return new Promise((resolve) => {
    const child = spawn(script, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PATH: path } });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
    // "close" comes when nobody holds the output any more: the background process must not.
    child.on("close", (code) => resolve({ code, text }));
  });
}
