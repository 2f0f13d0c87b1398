/**
 * `npm run envoy -- --switchovers N --kills N --alive N --own N --away SECONDS --work DIR`: Envoys by push in front of a
 * real cluster, beside other ways. proof/README.md says what must hold. The exit code is 1 if something could not be
 * measured, and 2 if the machine lacks something.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../src/core/cluster/values/error-message.ts";
import { balancerPrograms, envoyProgram, envoyVersions } from "../../test/real/lab/balancer-programs.ts";
import { type BalancerSpec, PushedLab } from "../../test/real/lab/pushed-lab.ts";
import { missingProgram, patroni3 } from "../../test/real/lab/versions.ts";
import { changeKinds, playChange } from "./change.ts";
import { ownFaultKinds, playOwnFault } from "./own-fault.ts";
import { reportOf, type Result } from "./report.ts";

const { values } = parseArgs({
  options: {
    switchovers: { type: "string", default: "2" },
    kills: { type: "string", default: "1" },
    alive: { type: "string", default: "1" },
    own: { type: "string", default: "1" },
    faults: { type: "string", default: ownFaultKinds.join(",") },
    away: { type: "string", default: "7" },
    instances: { type: "string", default: "1,2" },
    clients: { type: "string", default: "20" },
    only: { type: "string", default: "" },
    for: { type: "string", default: "1000000" },
    work: { type: "string", default: join(tmpdir(), "rolecall-envoy-push") },
    report: { type: "boolean", default: false },
  },
});
const resultsFile = join(values.work, "results.jsonl");
/** Fewer clients than changes have: there are reads beside the writes. */
const clientsOfOwnFaults = 4;

if (values.report) console.log(reportOf(results()));
else process.exitCode = await start();

async function start(): Promise<number> {
  const options = Object.entries(values).filter(
    ([name]) => !["only", "work", "report", "instances", "faults"].includes(name),
  );
  for (const [name, text] of options)
    if (!/^\d+$/.test(String(text))) return refuse(`--${name} must be a whole number, got ${String(text)}`);
  const [newest, oldest, patroni] = [envoyProgram("newest"), envoyProgram("oldest"), patroni3()];
  const missing = missingProgram();
  if (missing !== undefined) return refuse(`this machine must have ${missing}, got none`);
  if ("notRun" in newest) return refuse(`this machine must have Envoy: ${newest.notRun}`);
  if ("notRun" in oldest) return refuse(`this machine must have Envoy: ${oldest.notRun}`);
  if ("notRun" in patroni) return refuse(`this machine must have Patroni: ${patroni.notRun}`);
  mkdirSync(values.work, { recursive: true });
  const balancers = specs(newest.path, oldest.path).filter(({ title }) =>
    values.only.split("|").some((text) => title.includes(text)),
  );
  const untilMs = performance.now() + Number(values.for) * 1_000;
  let failed = 0;
  for (const instances of [1, 2] as const) {
    if (!values.instances.split(",").includes(String(instances))) continue;
    const lab = { patroni: patroni.command, balancers, instances };
    failed += await playLab(lab, untilMs).catch((error: unknown) => {
      console.log(`FAILED ${errorMessage(error)}`);
      return 1;
    });
  }
  console.log(reportOf(results()));
  return failed > 0 ? 1 : 0;
}

function specs(newest: string, oldest: string): readonly BalancerSpec[] {
  const [next, old] = [`Envoy ${envoyVersions.newest}`, `Envoy ${envoyVersions.oldest}`];
  const haproxys = balancerPrograms().flatMap(({ kind, title, found }) =>
    kind === "haproxy" && "path" in found
      ? [{ title: `${title}, push`, path: found.path, way: "haproxy" as const }]
      : [],
  );
  return [
    { title: `${next}, delta ADS`, path: newest, way: "delta" },
    { title: `${old}, ADS`, path: oldest, way: "sotw" },
    { title: `${next}, EDS alone`, path: newest, way: "eds alone" },
    { title: `${next}, rendered checks`, path: newest, way: "checks" },
    ...haproxys.slice(0, 1),
  ];
}

/** Plays the changes with one rolecall, and its own faults with each number of them. @returns how many failed */
async function playLab(options: Parameters<typeof PushedLab.start>[0], untilMs: number): Promise<number> {
  const lab = await PushedLab.start(options);
  let failed = 0;
  const play = async (what: string, run: () => Promise<Result>): Promise<void> => {
    if (performance.now() >= untilMs) return;
    try {
      const result = await run();
      appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
      console.log(`${what}: ${JSON.stringify(result)}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${what}: ${errorMessage(error)}`);
    }
  };
  const counts = { switchover: Number(values.switchovers), kill: Number(values.kills), alive: Number(values.alive) };
  const clients = clientsOfOwnFaults;
  try {
    if (options.instances === 1)
      for (const kind of changeKinds)
        for (let round = 0; round < counts[kind]; round += 1)
          await play(kind, async () => ({ of: "change", ...(await playChange(lab, kind, Number(values.clients))) }));
    for (const kind of ownFaultKinds.filter((one) => values.faults.split(",").includes(one))) {
      // One of each that stays away is as long as asked for; the others are longer than `max_age` (5.5 s).
      const count = kind === "absence" ? Math.min(1, Number(values.own)) : Number(values.own);
      for (let round = 0; round < count; round += 1) {
        const awayMs = round === 0 ? Number(values.away) * 1_000 : 6_500;
        await play(kind, async () => ({
          of: "own fault",
          ...(await playOwnFault(lab, kind, { clients, awayMs })),
        }));
      }
    }
  } finally {
    await lab.stop();
  }
  return failed;
}

function results(): readonly Result[] {
  if (!existsSync(resultsFile)) return [];
  const lines = readFileSync(resultsFile, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Result);
}

function refuse(problem: string): number {
  console.error(`Cannot run: ${problem}`);
  return 2;
}
