/**
 * `simulated-nodes CLUSTERS NODES keep|close`: simulators in a process of their own. Writes their addresses as one line
 * of JSON. Ends with stdin.
 */
import { startSimulator } from "../../src/tools/simulator/simulator.ts";

const [clusters = "1", nodes = "3", connections = "close"] = process.argv.slice(2);
const simulators = await Promise.all(
  Array.from({ length: Number(clusters) }, (_, at) =>
    startSimulator({ nodes: Number(nodes), port: 0, scope: `c${at}`, keepAlive: connections === "keep" }),
  ),
);
process.stdout.write(`${JSON.stringify(simulators.map((simulator) => simulator.nodes))}\n`);
process.stdin.resume().once("end", () => process.exit(0));
