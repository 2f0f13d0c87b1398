/**
 * A night on call: faults in a real cluster behind what rolecall renders, and what rolecall then tells people. Clients
 * of its own say whether writes and reads pass. Two faults are drawn; NIGHT_FAULTS is another number, `all`, or
 * positions such as `at:3,17`; NIGHT_SEED another seed; NIGHT_NOTES a folder for all that was said; NIGHT_PATRONI=4.1
 * the newest Patroni 4.1.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./lab/ask.ts";
import { beside, type Command } from "./lab/beside.ts";
import { ports } from "./lab/ports.ts";
import { Chance } from "../../proof/campaign/chance.ts";
import { alwaysForbidden, faults, type Fault } from "./night/faults.ts";
import { type Alert, isCalm, NightLab } from "./night/night-lab.ts";

const drawn = draw(process.env["NIGHT_FAULTS"] ?? "2", Number(process.env["NIGHT_SEED"] ?? hashOfCommit()));
/** Longer than rolecall may be silent while clients fail. */
const silentMs = 15_000;
/** How long alerts are awaited, from the fault on. Those of a first drill of CI end earlier. */
const alertMs = Number(process.env["NIGHT_ALERT_SECONDS"] ?? 30) * 1000;

const patroni = process.env["NIGHT_PATRONI"] === "4.1" ? "4.1" : "3.0.2";

beside(patroni, "a night on call", scenarios, 2 + 3 * drawn.length);

function scenarios(command: Command): void {
  let lab: NightLab;
  before(async () => {
    lab = await NightLab.start(command);
  });
  after(async () => {
    await lab?.stop();
  });

  for (const fault of drawn)
    test(fault.name, async (context) => {
      const reason = fault.notRun?.(lab) ?? null;
      if (reason === null) await night(lab, fault);
      else context.skip(reason);
    });
}

async function night(lab: NightLab, fault: Fault): Promise<void> {
  const notes: string[] = [`# ${fault.name}`, `truth: ${fault.truth}`];
  const flaws: string[] = [];
  const startedMs = performance.now();
  const elapsed = (): string => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  const firingBefore = new Set((await lab.alerts()).map(({ name }) => name));
  const undo = await fault.inject(lab);
  const injectedMs = performance.now();
  notes.push(`injected after ${elapsed()}`);
  let said = "";
  let alerts: readonly Alert[] = [];
  let firstSaid: string | null = null;
  try {
    let isRecorded = false;
    const endMs = injectedMs + Math.max(silentMs + 2_000, alertMs);
    while (performance.now() < endMs) {
      const situation = await lab.situation();
      const failing = lab.clients.filter(({ failingMs }) => failingMs > silentMs);
      if (firstSaid === null && !isCalm(situation)) {
        firstSaid = `${((performance.now() - injectedMs) / 1000).toFixed(1)} s`;
        notes.push(`first said ${firstSaid} after the fault:\n${situation}`);
      }
      if (isCalm(situation) && failing.length > 0 && fault.green === undefined)
        flaws.push(`"nothing" is wrong, while ${failing.map((client) => client.since(injectedMs)).join("; ")}`);
      said += situation;
      if (!isRecorded && performance.now() - injectedMs > silentMs - 4_000) {
        isRecorded = true;
        const record = await recorded(lab);
        said += record;
        notes.push(`after ${((performance.now() - injectedMs) / 1000).toFixed(1)} s:\n${record}`);
        for (const client of lab.clients) notes.push(client.since(injectedMs));
      }
      const now = await lab.alerts();
      for (const name of firingBefore) if (now.every((alert) => alert.name !== name)) firingBefore.delete(name);
      const firing = now.filter(({ name }) => !firingBefore.has(name));
      for (const alert of firing)
        if (!alerts.some(({ name }) => name === alert.name)) {
          notes.push(
            `alert after ${((performance.now() - injectedMs) / 1000).toFixed(1)} s: ${alert.name}: ${alert.text}`,
          );
          alerts = [...alerts, alert];
        }
      await sleep(1_000);
    }
    notes.push(`at the end:\n${await lab.situation()}`);
    for (const client of lab.clients) notes.push(client.since(injectedMs));
  } finally {
    await undo();
  }
  const undoneMs = performance.now();
  try {
    await lab.cluster.whole(90);
    await lab.well(60);
    notes.push(`well again ${((performance.now() - undoneMs) / 1000).toFixed(1)} s after the end of the fault`);
  } catch (error) {
    flaws.push(`after the fault: ${String(error)}`);
  }
  const everything = `${said}\n${alerts.map(({ text }) => text).join("\n")}`;
  for (const pattern of [...alwaysForbidden, ...(fault.forbidden ?? [])]) {
    const found = everything.split("\n").find((line) => pattern.test(line));
    if (found !== undefined) flaws.push(`Advice that could lose data (${pattern}): ${found}`);
  }
  if (fault.named !== undefined && !fault.named.test(said)) flaws.push(`The cause is not named: ${fault.named}`);
  note(fault, [...notes, ...flaws.map((flaw) => `FLAW ${flaw}`)]);
  assert.deepEqual(flaws, [], notes.join("\n"));
}

/** All that people read. */
async function recorded(lab: NightLab): Promise<string> {
  const [status, primary, situation, canaries, verify] = [
    await lab.says("status"),
    await lab.says("explain", "/primary", "--cluster", "demo"),
    await lab.situation(),
    await lab.says("canaries"),
    await lab.says("status", "routes"),
  ];
  const { body } = await ask({ port: ports.rolecallAdmin, path: "/status", deadlineMs: 5_000 });
  const [cluster] =
    (JSON.parse(body || "{}") as { clusters?: readonly { readonly situation?: unknown }[] }).clusters ?? [];
  const json = JSON.stringify(cluster?.situation ?? null);
  return [
    `$ rolecall status\n${status}`,
    `$ rolecall explain /primary\n${primary}`,
    `$ rolecall explain\n${situation}`,
    `$ rolecall canaries\n${canaries}`,
    `$ rolecall status routes\n${verify}`,
    `situation: ${json}`,
  ].join("\n");
}

function note({ name }: Fault, lines: readonly string[]): void {
  const folder = process.env["NIGHT_NOTES"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replaceAll(/[^\w]+/g, "-")}.txt`), `${lines.join("\n")}\n`);
}

function draw(wanted: string, seed: number): readonly Fault[] {
  if (wanted === "all") return faults;
  if (wanted.startsWith("at:"))
    return wanted
      .slice(3)
      .split(",")
      .flatMap((position) => faults[Number(position)] ?? []);
  const chance = new Chance(seed);
  const rest = [...faults];
  return Array.from({ length: Math.min(Number(wanted), rest.length) }, () =>
    rest.splice(chance.int(0, rest.length - 1), 1),
  ).flat();
}

/** What CI draws depends on the commit, as in `test/run.ts`. */
function hashOfCommit(): number {
  try {
    const hash = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Number.parseInt(hash.slice(0, 8), 16);
  } catch {
    return 1;
  }
}
