/** The process of all writers and readers. Runs in the clients' namespace until its standard input ends. */
import { Chance } from "../../campaign/chance.ts";
import { balancerNames, edgeNames, nodeNames } from "../machines/addresses.ts";
import { readWithFloor } from "./floor-sessions.ts";
import { read } from "./readers.ts";
import { HistoryRecorder } from "./recorder.ts";
import { write } from "./writers.ts";

const [file = "", table = "", seed = "1"] = process.argv.slice(2);
let isStopped = false;
process.stdin.on("end", () => {
  isStopped = true;
});
process.stdin.resume();
const recorder = new HistoryRecorder(file, "clients");
const isOver = (): boolean => isStopped;
const shared = { table, recorder, isOver };
const chance = new Chance(Number(seed));
await Promise.all([
  ...balancerNames.flatMap((balancer) => [
    write({ ...shared, writer: `${balancer}-new1`, to: balancer, everyMs: 150, isKept: false }),
    write({ ...shared, writer: `${balancer}-new2`, to: balancer, everyMs: 150, isKept: false }),
    write({ ...shared, writer: `${balancer}-kept`, to: balancer, everyMs: 250, isKept: true }),
    read({ ...shared, balancer, everyMs: 200 }),
    read({ ...shared, balancer, everyMs: 200 }),
  ]),
  ...nodeNames.map((node) => write({ ...shared, writer: `${node}-control`, to: node, everyMs: 500, isKept: false })),
  ...edgeNames.flatMap((edge) =>
    [1, 2].map((n) =>
      readWithFloor({ ...shared, session: `${edge}-floor${n}`, edge, everyMs: 150, seed: chance.int(0, 1e9) }),
    ),
  ),
]);
recorder.close();
process.exit(0);
