/** Tries an artefact where it matters: every command, and the log, while one node of a cluster is dead. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { allCommands } from "../../src/cli/specs/commands.ts";
import { formOf, commandWordsOf } from "../../src/core/command/framework/verbs.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { assignmentsIn, listedIn, XdsClientStream } from "../fake/xds-client.ts";

/** How an artefact is run. */
export interface Artefact {
  /** The words that start the program: commands and options follow them. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether it has the documents: only then its log refers to them. */
  readonly hasDocuments: boolean;
}

type Row = { readonly run: string } & (
  | { readonly exit: number; readonly says: string; readonly until?: undefined }
  | { readonly says?: string; readonly until: string }
);

const rows: readonly Row[] = parse(readFileSync("test/spec/packaging/commands.yaml", "utf8"));

/**
 * Serves a cluster of which pg3 is dead, and runs every command of the table.
 * @throws AssertionError with each command line that did not do what the table says
 */
export async function assertWorks(artefact: Artefact): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "rolecall-artefact-"));
  chmodSync(scratch, 0o777); // an image has a user of its own
  const running: Running[] = [];
  const run = (...args: readonly string[]): Running => {
    const started = new Running(artefact, { args, cwd: scratch });
    running.push(started);
    return started;
  };
  try {
    const values = await writeConfiguration(scratch);
    run("demo", "cluster", "--nodes", "2", "--port", values["$NODES"] ?? "");
    const service = run("serve", "--config", values["$CONFIG"] ?? "");
    assertSee(await service.lineWith('"event":"node_down"'), artefact);
    await service.lineWith('"dialect":"xds"');
    await assertServesEnvoys(values["$XDS"] ?? "");
    const problems: string[] = [];
    for (const row of rows) problems.push(...(await problemsOf(row, run(...argumentsOf(row, values)))));
    assert.deepEqual(problems, []);
    assert.deepEqual(notTried(), []);
  } finally {
    for (const { child } of running) child.kill("SIGKILL");
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The line about the dead node refers to the section on its reason, if that is installed; else to nothing. */
function assertSee(line: string, { hasDocuments }: Artefact): void {
  const { see }: { readonly see?: string } = JSON.parse(line);
  if (!hasDocuments) assert.equal(see, undefined);
  else {
    const [, file = ""] = /^(\/.*\/docs\/reasons\.md)#down$/.exec(see ?? "") ?? [];
    assert.ok(existsSync(file), line);
  }
}

/** What serves Envoys is loaded from elsewhere than the rest. */
async function assertServesEnvoys(address: string): Promise<void> {
  const stream = new XdsClientStream(address, "eds sotw");
  stream.send({ node: { id: "edge-1" }, resource_names: ["reads"] });
  const [assignment] = assignmentsIn(await stream.next());
  stream.close();
  assert.ok(assignment !== undefined);
  assert.deepEqual(listedIn(assignment), ["+pg2"]);
}

/** The commands, verbs and forms that no row has. A command that only has verbs does nothing itself. */
function notTried(): readonly string[] {
  const lines = rows.map(({ run }) => `${run} `);
  return allCommands
    .filter(({ load }) => load !== null)
    .map((spec) => ({ ...spec, option: spec.name.includes(" --") ? ` --${formOf(spec)} ` : "" }))
    .filter((spec) => !lines.some((line) => line.startsWith(`${commandWordsOf(spec)} `) && line.includes(spec.option)))
    .map(({ name }) => name);
}

function argumentsOf({ run }: Row, values: Readonly<Record<string, string>>): readonly string[] {
  return run.split(" ").map((word) => word.replace(/\$[A-Z]+/, (name) => values[name] ?? name));
}

/** Writes the configuration of two simulated nodes and a dead one. @returns the values that the table names */
async function writeConfiguration(scratch: string): Promise<Readonly<Record<string, string>>> {
  const nodes = (await freePort(2)) + 1; // the port before it is that of the simulator's control
  const [dead, health, admin, port] = [await freePort(), await freePort(), await freePort(), await freePort(1)];
  const xds = await freePort();
  const file = join(scratch, "rolecall.yaml");
  const api = (at: number): string => `http://127.0.0.1:${at}`;
  writeFileSync(
    file,
    `clusters:
  - name: demo
    nodes:
      - { name: pg1, api: "${api(nodes)}", database: "127.0.0.1:5432" }
      - { name: pg2, api: "${api(nodes + 1)}", database: "127.0.0.1:5433" }
      - { name: pg3, api: "${api(dead)}", database: "127.0.0.1:5434" }
pools: [{ name: reads, check: /replica }]
listen:
  - { port: ${health}, cluster: demo, whole_cluster: true, management: on }
  - { port: ${admin}, dialect: admin }
  - { port: ${xds}, dialect: xds }
log: { format: json }
drain: 0s
`,
  );
  const document = join(scratch, "document.json");
  copyFileSync("test/spec/cli/another-tool.json", document);
  const own = {
    $DOCUMENT: document,
    $SERVER: api(admin),
    $HEALTH: api(health),
    $XDS: `127.0.0.1:${xds}`,
    $SCRATCH: scratch,
    $PORT: `${port + 1}`,
  };
  return { ...own, $CONFIG: file, $NODES: `${nodes}` };
}

async function problemsOf(row: Row, started: Running): Promise<readonly string[]> {
  if (row.until !== undefined) {
    await started.lineWith(row.until);
    started.child.kill("SIGINT");
  }
  const { exit, says } = row.until === undefined ? row : { exit: 0, says: row.says ?? row.until };
  const code = await started.exit;
  const isRight = code === exit && started.output.includes(says) && !started.output.includes("RC002");
  return isRight ? [] : [`${row.run}: exit code ${code}, not ${exit}, or not ${says}:\n${started.output}`];
}

/** One process of the artefact. */
class Running {
  readonly child: ChildProcess;
  readonly exit: Promise<number | string>;
  /** All that it wrote, on stdout and stderr. */
  output = "";

  constructor({ command, env }: Artefact, { args, cwd }: { readonly args: readonly string[]; readonly cwd: string }) {
    const [program = "", ...before] = command;
    this.child = spawn(program, [...before, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on("data", (text: Buffer) => (this.output += text.toString()));
    this.exit = once(this.child, "close").then(([code, signal]) => code ?? signal);
  }

  /** The first line with this text. Throws an Error if there is none in time, or the process ends without one. */
  lineWith(text: string): Promise<string> {
    const wait = { what: `${text} of ${this.child.spawnargs.join(" ")}`, seconds: 60, evidence: () => this.output };
    return until(wait, () => {
      const complete = this.output.slice(0, this.output.lastIndexOf("\n") + 1).split("\n");
      const line = complete.find((one) => one.includes(text));
      if (line === undefined && this.child.exitCode !== null) throw new Error(`It ended: ${this.output}`);
      return line;
    });
  }
}
