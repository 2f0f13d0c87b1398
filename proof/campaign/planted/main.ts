/** Plants each bug of `bugs.yaml` into a copy of the program, and counts the seeds until the simulation finds it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import type { OwnerLife } from "../sim/plan.ts";

/** A bug: one replacement in one file. */
interface PlantedBug {
  readonly name: string;
  /** The path within `src`, without its ending. */
  readonly file: string;
  readonly replace: string;
  readonly with: string;
  readonly kinds?: readonly string[];
  /** How long a run is, in virtual seconds, where those of `--seconds` are too short for what it needs. */
  readonly seconds?: number;
  /** Which campaign has to find it, if not the simulation of faults. */
  readonly campaign?: "addresses" | "fleet";
  /** What happens to the rolecalls that are followed. Without it, rolecall probes itself. */
  readonly follows?: OwnerLife;
}

const { values } = parseArgs({
  options: {
    planted: { type: "boolean", default: true },
    seeds: { type: "string", default: "200" },
    seconds: { type: "string", default: "60" },
    only: { type: "string" },
  },
});

const bugs = (parse(readFileSync("proof/campaign/planted/bugs.yaml", "utf8")) as readonly PlantedBug[]).filter(
  ({ name }) => values.only === undefined || name.includes(values.only),
);
const folder = mkdtempSync(join(tmpdir(), "rolecall-planted-"));
for (const part of ["src", "proof/campaign", "test/fake"])
  cpSync(join("build", part), join(folder, "build", part), { recursive: true });
cpSync("package.json", join(folder, "package.json"));
symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
/** The first seed of a fleet: without a bug none of the 71 from here on breaks a promise. */
const fleetFrom = 201;
let missed = 0;
for (const bug of bugs) {
  const file = join(folder, "build", "src", `${bug.file}.js`);
  const sound = readFileSync(file, "utf8");
  if (sound.split(bug.replace).length !== 2)
    throw new Error(`Cannot plant "${bug.name}": its text must occur once in ${bug.file}, got ${bug.replace}`);
  writeFileSync(
    file,
    sound.replace(bug.replace, () => bug.with),
  );
  const found = hunt(bug);
  writeFileSync(file, sound);
  if (found === null) missed += 1;
  process.stdout.write(`| ${bug.name} | ${found ?? `not found in ${values.seeds} seeds`} |\n`);
}
rmSync(folder, { recursive: true, force: true });
process.exitCode = missed === 0 ? 0 : 1;

/** @returns how many seeds it took, and the promise that was broken; null if none was */
function hunt({ kinds = [], seconds, campaign, follows }: PlantedBug): string | null {
  const first = campaign === "fleet" ? fleetFrom : 1;
  const range = ["--seeds", `${first}..${first + Number(values.seeds) - 1}`, "--stop-at", "1"];
  const only = kinds.length === 0 ? [] : ["--kinds", kinds.join()];
  const ofFaults = [
    "--seconds",
    `${seconds ?? values.seconds}`,
    "--no-shrink",
    ...only,
    ...(follows === undefined ? [] : ["--follows", follows]),
  ];
  const options = {
    addresses: [...range, "--addresses"],
    fleet: ["--fleet", "5", ...range, ...ofFaults],
    faults: [...range, ...ofFaults],
  }[campaign ?? "faults"];
  const { stdout } = spawnSync(process.execPath, ["build/proof/campaign/main.js", ...options], {
    cwd: folder,
    encoding: "utf8",
  });
  const rule = /VIOLATION (\S+)/.exec(stdout)?.[1];
  const seed = /--seed (\d+)/.exec(stdout)?.[1];
  return rule === undefined || seed === undefined ? null : `${Number(seed) - first + 1} | ${rule}`;
}
