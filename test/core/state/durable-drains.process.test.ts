/** What a real process has acknowledged, when it is killed in the next moment. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { freePort } from "../../fake/free-port.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

const limit = { timeout: 120_000 };
const nodeNames = Array.from({ length: 12 }, (_, at) => `pg${at}`);

interface Serving {
  readonly running: RolecallProcess;
  readonly stateFile: string;
  readonly change: (method: "POST" | "DELETE", node: string) => Promise<Response>;
}

async function serve(context: TestContext, { isSaved }: { readonly isSaved: boolean }): Promise<Serving> {
  const [node] = await openFakeCluster(context, ["pg0"]);
  const port = await freePort();
  const apiOf = (at: number): string => (at === 0 ? (node?.api ?? "") : `http://127.0.0.1:${at}`);
  const nodes = nodeNames.map((name, at) => `{ name: ${name}, api: "${apiOf(at)}" }`);
  const file = writeConfigFile(context, "");
  const stateFile = join(file, "..", "state.json");
  writeFileSync(
    file,
    `clusters: [{ name: demo, nodes: [${nodes.join(", ")}] }]
listen: [{ port: ${port}, dialect: admin }]
${isSaved ? `state_file: ${stateFile}` : ""}
`,
  );
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog('"listening"');
  const request = {
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ for: "1h", reason: "test" }),
  };
  const change: Serving["change"] = (method, name) =>
    fetch(`http://127.0.0.1:${port}/drains/demo/${name}`, { method, ...request });
  return { running, stateFile, change };
}

function savedDrains(file: string): readonly string[] {
  const { drains }: { readonly drains: readonly { readonly node: string }[] } = JSON.parse(readFileSync(file, "utf8"));
  return drains.map(({ node }) => node).toSorted();
}

async function durableOf(response: Response): Promise<unknown> {
  const { durable }: { readonly durable: unknown } = JSON.parse(await response.text());
  return durable;
}

describe("a drain that is acknowledged", () => {
  for (const killedAfter of [1, 2, 4, 8])
    test(`is on disk, when the process is killed after answer ${killedAfter}`, limit, async (context) => {
      const { running, stateFile, change } = await serve(context, { isSaved: true });
      const acknowledged: string[] = [];
      const changes = nodeNames.map(async (node) => {
        const { status } = await change("POST", node);
        assert.equal(status, 200);
        acknowledged.push(node);
        if (acknowledged.length === killedAfter) running.process.kill("SIGKILL");
      });
      await Promise.allSettled(changes);
      await running.exit;
      assert.ok(acknowledged.length >= killedAfter);
      const saved = savedDrains(stateFile);
      assert.deepEqual(
        acknowledged.filter((node) => !saved.includes(node)),
        [],
      );
    });

  test("has ended on disk when its end is acknowledged", limit, async (context) => {
    const { running, stateFile, change } = await serve(context, { isSaved: true });
    assert.equal(await durableOf(await change("POST", "pg1")), true);
    assert.deepEqual(savedDrains(stateFile), ["pg1"]);
    assert.equal((await change("DELETE", "pg1")).status, 200);
    running.process.kill("SIGKILL");
    await running.exit;
    assert.deepEqual(savedDrains(stateFile), []);
  });

  test("is an error with the reason if it cannot be written", limit, async (context) => {
    const { stateFile, change } = await serve(context, { isSaved: true });
    rmSync(stateFile, { force: true });
    mkdirSync(stateFile);
    for (const method of ["POST", "DELETE"] as const) {
      const response = await change(method, "pg1");
      assert.equal(response.status, 503);
      assert.match(await response.text(), /not_durable.*regular file/);
    }
  });

  test("says that it is lost in a restart without a state file", limit, async (context) => {
    const { change } = await serve(context, { isSaved: false });
    for (const method of ["POST", "DELETE"] as const) {
      const response = await change(method, "pg1");
      assert.equal(response.status, 200);
      assert.equal(await durableOf(response), false);
    }
  });
});
