/** Two processes: the first has announced a pause, the second is a whole rolecall that watches it. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ConsoleTarget } from "../../src/core/balancing/pgbouncer/console.ts";
import type { AnnouncingOptions } from "../features/switchover/peers/announcing-process.ts";
import { freePort } from "./free-port.ts";
import { sendRequest } from "./http-request.ts";
import { writeConfigFile } from "./config-file.ts";
import { RolecallProcess } from "./rolecall-process.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

export interface AnnouncingPair {
  readonly first: {
    readonly process: ChildProcess;
    /** What it has said. */
    readonly lines: () => readonly string[];
  };
  readonly second: RolecallProcess;
  /** The metrics of the second one. */
  readonly metrics: () => Promise<string>;
}

/**
 * Starts both, and waits until the second one answers heartbeats. They end with the test.
 * @param target the console of a PgBouncer with the database `orders`
 * @param pauses whether the first one pauses it
 */
export async function startAnnouncingPair(
  context: TestContext,
  target: ConsoleTarget & { readonly address: { readonly host: string; readonly port: number } },
  pauses: boolean,
): Promise<AnnouncingPair> {
  const tokenFile = join(temporaryFolder("announcing-pair"), "token");
  writeFileSync(tokenFile, "secret\n");
  const port = await freePort();
  const config = writeConfigFile(
    context,
    `
clusters: [{ name: orders, nodes: [{ name: pg1, api: "http://127.0.0.1:1" }] }]
listen: [{ port: ${port}, dialect: admin, read_only: true, pause_tokens: [${tokenFile}] }]
poolers:
  - name: pgb1
    pgbouncer: { address: "127.0.0.1:${target.address.port}", user: rolecall }
    databases: [{ name: orders }]
`,
  );
  const second = new RolecallProcess(context, ["serve", "--config", config]);
  const url = `http://127.0.0.1:${port}`;
  await until({ what: "the second rolecall", seconds: 60, evidence: () => second.stderr }, async () => {
    const answer = await sendRequest(`${url}/livez`).catch(() => null);
    return answer?.status === 200;
  });
  const options: AnnouncingOptions = {
    peer: { name: "core2", url, tokenFile, tls: null },
    intent: {
      run: "r1",
      cluster: "orders",
      deadlineWallMs: Date.now() + 600_000,
      targets: [{ pooler: "pgb1", database: "orders", console: target }],
      finish: null,
    },
    pauses,
  };
  const module = fileURLToPath(new URL("../features/switchover/peers/announcing-process.js", import.meta.url));
  const first = spawn(process.execPath, [module, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => void first.kill("SIGKILL"));
  let said = "";
  first.stdout.on("data", (text: Buffer) => (said += text.toString()));
  const lines = (): readonly string[] => said.split("\n").slice(0, -1);
  await until({ what: "an echo", seconds: 60, evidence: () => said }, () => lines().includes("echo"));
  assert.equal(lines()[0], "acknowledged");
  return {
    first: { process: first, lines },
    second,
    metrics: async () => (await sendRequest(`${url}/metrics`)).body,
  };
}
