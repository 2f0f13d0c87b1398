/** The built program works at all: each command of it, a service with its worker and its page, and a guardian. */
import assert from "node:assert/strict";
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { allCommands } from "../../../src/cli/specs/commands.ts";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 60_000 };
const main = resolve("dist/main.js");

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the built program. */
function run(argv: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, [main, ...argv], (error, out, err) => {
      done({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

/** Golden texts of test/cli/golden.test.ts: of each way to get and to show something. */
const texts: Readonly<Record<string, readonly string[]>> = {
  status: ["status"],
  "check-fit": ["check", "/replica?lag=1MB", "--node", "pg2"],
  explain: ["explain", "/replica", "--node", "pg3"],
  drain: ["drain", "pg2", "--for", "30m", "--reason", "kernel upgrade", "--yes"],
  verify: ["status", "routes"],
  config: ["cluster", "config", "--cluster", "demo"],
  "render-haproxy": ["render", "haproxy", "--edge", "127.0.0.1:8008"],
  "render-prometheus": ["render", "prometheus", "--admin", "127.0.0.1:9108"],
};

describe("the built program", () => {
  test("prints the help of each command", limit, async () => {
    const names = allCommands.map(({ name }) => name).filter((name) => !name.includes(" --"));
    // Two at a time, as a small machine has two cores.
    const queue = [...names];
    const helps = new Map<string, Ended>();
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift())
        helps.set(name, await run([...name.split(" "), "--help"]));
    };
    await Promise.all([work(), work()]);
    for (const name of names) assert.deepEqual(helps.get(name), await runText([...name.split(" "), "--help"]), name);
  });

  test("commands write what their source writes", limit, async (context) => {
    const server = await serveCannedAnswers(adminApiAnswers);
    context.after(() => server.close());
    for (const [name, argv] of Object.entries(texts)) {
      const { code, out, err } = await run([...argv, "--server", server.url]);
      const text = `${out}${err === "" ? "" : `--- stderr\n${err}`}--- exit code ${code}\n`;
      const golden = readFileSync(join("test", "spec", "cli", "golden", `${name}.txt`), "utf8");
      assert.equal(text.replaceAll(server.url, "http://127.0.0.1:9108"), golden);
    }
  });

  test("serves answers with a worker, and every file of the page", limit, async (context) => {
    const [node] = await openFakeCluster(context, ["pg1"]);
    const [port, admin] = [await freePort(), await freePort()];
    const file = writeConfigFile(
      context,
      `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
listen: [{ port: ${port}, whole_cluster: true }, { port: ${admin}, dialect: admin }]
workers: 1
drain: 0s
`,
    );
    const running = new RolecallProcess(context, ["serve", "--config", file]);
    await running.waitForLog("worker started");
    const wait = { what: "a yes", seconds: 30, evidence: () => running.stderr };
    await until(wait, async () => (await sendRequest(`http://127.0.0.1:${port}/primary`)).status === 200);
    assert.equal((await sendRequest(`http://127.0.0.1:${port}/replica`)).status, 503);
    const names = JSON.parse(readFileSync("dist/web/files.json", "utf8")) as readonly string[];
    assert.ok(names.length > 10);
    for (const name of names) {
      const path = name === "index.html" ? "/" : `/page/${name}`;
      const response = await fetch(`http://127.0.0.1:${admin}${path}`, { headers: { accept: "text/html" } });
      assert.deepEqual([path, response.status, (await response.text()) !== ""], [path, 200, true]);
    }
    running.process.kill("SIGTERM");
    assert.equal(await running.exit, 0);
    assert.doesNotMatch(running.stderr, /"level":"(?:error|fatal)"/);
  });

  test("a guardian with nothing to finish ends with the main process", limit, async (context) => {
    const child = fork(resolve("dist/app/registry/guardian.js"), {
      stdio: ["ignore", "inherit", "pipe", "ipc"],
      execArgv: [],
    });
    context.after(() => child.kill("SIGKILL"));
    let err = "";
    child.stderr?.on("data", (text: Buffer) => (err += text.toString()));
    const ended = once(child, "exit");
    await once(child, "spawn");
    child.disconnect();
    assert.deepEqual([await ended, err], [[0, null], ""]);
  });
});
