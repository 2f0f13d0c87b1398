/**
 * The random fault campaign against the running program. How to run it, and what it promises: README.md beside the
 * folder.
 */
import { parseArgs } from "node:util";
import { Campaign } from "./campaign.ts";
import { kindsOf } from "./scenario.ts";

const { values } = parseArgs({
  options: {
    live: { type: "boolean", default: true },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    minutes: { type: "string", default: "2" },
    clusters: { type: "string", default: "4" },
    dist: { type: "string", default: "dist/main.js" },
    workers: { type: "string", default: "0" },
    profile: { type: "string", default: "scaled" },
    kinds: { type: "string" },
    only: { type: "string" },
    trace: { type: "boolean", default: false },
    times: { type: "string", default: "1" },
  },
});

const profile = values.profile;
if (profile !== "scaled" && profile !== "half" && profile !== "default") {
  throw new Error(`Cannot run: --profile must be scaled, half or default, got ${profile}`);
}
// Refused here, not in the middle of a run.
kindsOf(values.kinds ?? null);
const campaign = new Campaign({
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  clusters: Number(values.clusters),
  dist: values.dist,
  workers: Number(values.workers),
  profile,
  kinds: values.kinds ?? null,
  only: values.only ?? null,
  times: Number(values.times),
  isTraced: values.trace,
  write: (text) => void process.stdout.write(text),
});
process.once("SIGINT", () => campaign.stop());
process.once("SIGTERM", () => campaign.stop());
process.exitCode = (await campaign.run()) ? 0 : 1;
