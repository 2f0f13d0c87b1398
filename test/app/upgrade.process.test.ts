/**
 * The upgrade of docs/operations.md, from 0.1.0 and back: two instances with files of 0.1.0, one after the other, while a
 * client asks both. What 0.1.0 answers is the measure.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { buildEarlierVersion } from "../fake/earlier-version.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { program } from "../fake/program.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

/** How often the client asks, in ms. */
const everyMs = 20;
/** For how many rounds the old and the new version are side by side. */
const sideBySide = 100;
/** The keys of the file that were removed since 0.1.0: the only warnings of the new version. */
const removedInFile = ["listen[0].limits.pipelined", "fast_lane"];
/** pg3 is drained, pg4 asks for no clients. */
const expected: Readonly<Record<string, number>> = {
  "/primary": 200,
  "/replica": 200,
  "/nodes/pg1/primary": 200,
  "/nodes/pg1/replica": 503,
  "/nodes/pg2/primary": 503,
  "/nodes/pg2/replica": 200,
  "/nodes/pg2/replica?lag=1MB": 200,
  "/nodes/pg3/replica": 503,
  "/nodes/pg3/health": 200,
  "/nodes/pg4/replica": 503,
};
const always = ["/primary", "/replica"];
const inTurn = Object.keys(expected).filter((path) => !always.includes(path));

/** One of the pair: its files and ports stay the same whichever version runs. */
interface Instance {
  readonly name: string;
  readonly file: string;
  readonly stateFile: string;
  readonly health: number;
  readonly admin: number;
  running: RolecallProcess | null;
  /** The state file as the version before left it. */
  before: object;
}

test(
  "two instances are upgraded from 0.1.0 and rolled back: no answer changes, and one of them always answers",
  { timeout: 240_000 },
  async (context) => {
    const earlier = buildEarlierVersion(context, "0.1.0");
    if (earlier === null) return context.skip("not run: the history does not reach back to 0.1.0");
    const instances = await openPair(context);
    for (const instance of instances) await start(context, instance, earlier);
    for (const { admin } of instances) await drain(admin, "pg3", { for: "1h", reason: "disk" });
    const client = new Client(instances);
    context.after(() => void client.stop());
    await client.settled();
    for (const instance of instances) {
      await restart(context, instance, program);
      // In the order in which the file is checked.
      assert.deepEqual(warningsOf(instance.running), removedInFile);
      // Written by 0.1.0, and read.
      assert.deepEqual(await drainsOf(instance.admin), ["pg3: disk, all false"]);
      await client.rounds(sideBySide);
    }
    for (const { admin } of instances) await drain(admin, "pg4", { for: "1h", reason: "clone", distrust: true });
    for (const instance of instances) {
      await restart(context, instance, earlier);
      assert.deepEqual(sectionsBefore(instance), [
        "accused",
        "clusters",
        "drains",
        "heard",
        "held",
        "listed",
        "named",
        "refused",
        "stood",
      ]);
      assert.deepEqual(warningsOf(instance.running), []);
      // A distrust is a drain on all routes to 0.1.0.
      assert.deepEqual(await drainsOf(instance.admin), ["pg3: disk, all false", "pg4: clone, all true"]);
      await client.rounds(sideBySide);
    }
    for (const instance of instances) await restart(context, instance, program);
    const { wrong, gaps, rounds, answers, silent } = await client.stop();
    console.log(`${rounds} rounds, ${answers} answers, ${silent} requests that one of them did not answer`);
    assert.deepEqual(wrong, []);
    assert.deepEqual(gaps, []);
    for (const instance of instances)
      assert.deepEqual(await drainsOf(instance.admin), ["pg3: disk, all false", "pg4: clone, all true"]);
  },
);

/** Stops the version that runs, as the page says, and starts another one. */
async function restart(context: TestContext, instance: Instance, main: string): Promise<void> {
  const { running } = instance;
  running?.process.kill("SIGTERM");
  assert.equal(await running?.exit, 0, running?.stderr);
  instance.before = JSON.parse(readFileSync(instance.stateFile, "utf8"));
  await start(context, instance, main);
}

/** The sections of the state file that the version before wrote. */
function sectionsBefore({ before }: Instance): readonly string[] {
  return Object.keys(before)
    .filter((key) => key !== "version")
    .toSorted();
}

function warningsOf(running: RolecallProcess | null): readonly string[] {
  const lines = running?.stderr.split("\n").filter((line) => line.startsWith("{")) ?? [];
  return (
    lines
      .map((line): Record<string, unknown> => JSON.parse(line))
      // Levels were numbers.
      .filter(({ level }) => ["warn", "error", "fatal"].includes(String(level)) || Number(level) >= 40)
      .map(({ msg, key }) => (msg === "removed key" ? String(key) : String(msg)))
  );
}

async function openPair(context: TestContext): Promise<readonly Instance[]> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3", "pg4"]);
  for (const node of nodes) if (node.name === "pg4") node.fields = { tags: { noloadbalance: true } };
  const instances: Instance[] = [];
  for (const name of ["first", "second"]) {
    const [health, admin] = [await freePort(), await freePort()];
    const file = writeConfigFile(
      context,
      `clusters: [{ name: demo, discover: ["${nodes[0]?.api}", "${nodes[1]?.api}"] }]
listen:
  - { port: ${health}, whole_cluster: true, limits: { pipelined: 6 } }
  - { port: ${admin}, dialect: admin }
state_file: members.json
drain: 500ms
fast_lane: false
`,
    );
    instances.push({
      name,
      file,
      stateFile: join(file, "..", "members.json"),
      health,
      admin,
      running: null,
      before: {},
    });
  }
  return instances;
}

/** Starts a version with the files of an instance, until it is ready. */
async function start(context: TestContext, instance: Instance, main: string): Promise<void> {
  const running = new RolecallProcess(context, ["serve", "--config", instance.file], { main });
  instance.running = running;
  await until({ what: `${instance.name} is ready`, evidence: () => running.stderr }, async () => {
    const answer = await fetch(`http://127.0.0.1:${instance.health}/readyz`).catch(() => null);
    return answer?.status === 200;
  });
}

async function drain(admin: number, node: string, body: object): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${admin}/drains/demo/${node}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(status, 200);
}

async function drainsOf(admin: number): Promise<readonly string[]> {
  const { drains }: { readonly drains: readonly ShownDrain[] } = JSON.parse(
    await (await fetch(`http://127.0.0.1:${admin}/drains`)).text(),
  );
  return drains.map(({ node, reason, all }) => `${node}: ${reason}, all ${all}`);
}

interface ShownDrain {
  readonly node: string;
  readonly reason: string;
  readonly all: boolean;
}

/** Asks all instances, every {@link everyMs}; a round that takes longer delays the next one. */
class Client {
  readonly #instances: readonly Instance[];
  readonly #wrong: string[] = [];
  readonly #gaps: string[] = [];
  #rounds = 0;
  #answers = 0;
  #silent = 0;
  #isStopped = false;
  readonly #ended: Promise<void>;

  constructor(instances: readonly Instance[]) {
    this.#instances = instances;
    this.#ended = this.#run();
  }

  /** Resolves after as many more rounds. */
  async rounds(count: number): Promise<void> {
    const last = this.#rounds + count;
    await until({ what: `${count} rounds`, seconds: 60 }, () => this.#rounds >= last);
  }

  /** Resolves when all answers of a while have been as expected; only from then on do they count. */
  async settled(): Promise<void> {
    await until({ what: "the answers", evidence: () => this.#wrong.slice(-10).join("\n") }, async () => {
      this.#wrong.length = this.#gaps.length = this.#rounds = this.#answers = this.#silent = 0;
      await this.rounds(50);
      return this.#wrong.length === 0 && this.#gaps.length === 0;
    });
  }

  async stop(): Promise<{ wrong: string[]; gaps: string[]; rounds: number; answers: number; silent: number }> {
    this.#isStopped = true;
    await this.#ended;
    const [wrong, gaps] = [this.#wrong, this.#gaps];
    return { wrong, gaps, rounds: this.#rounds, answers: this.#answers, silent: this.#silent };
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const pause = new Promise((done) => setTimeout(done, everyMs));
      await Promise.all([...always, inTurn[this.#rounds % inTurn.length] ?? ""].map((path) => this.#ask(path)));
      this.#rounds += 1;
      await pause;
    }
  }

  async #ask(path: string): Promise<void> {
    const statuses = await Promise.all(this.#instances.map(({ health }) => statusOf(health, path)));
    for (const [index, status] of statuses.entries()) {
      if (status === null) this.#silent += 1;
      else this.#answers += 1;
      if (status !== null && status !== expected[path])
        this.#wrong.push(`${this.#instances[index]?.name}: ${path}: ${status}`);
    }
    if (statuses.every((status) => status === null)) this.#gaps.push(`round ${this.#rounds}: ${path}`);
  }
}

/** @returns `null` if nothing answers */
async function statusOf(port: number, path: string): Promise<number | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { connection: "close" },
      signal: AbortSignal.timeout(2_000),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return null;
  }
}
