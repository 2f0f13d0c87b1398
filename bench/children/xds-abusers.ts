/**
 * `xds-abusers KIND PORT`: hostile clients of an xDS listener, of one kind. Prints a line once they run. Answers every
 * line on stdin with the number of what they did so far. Ends with stdin or after two minutes.
 */
import { createInterface } from "node:readline";
import { hostileXdsClients, seeded } from "../../test/fake/hostile-xds-clients.ts";

const [kind = "", port = ""] = process.argv.slice(2);
const attack = hostileXdsClients[kind];
if (attack === undefined) throw new Error(`Cannot abuse: KIND must be one of the hostile clients, got ${kind}`);
let count = 0;
void attack({ port: Number(port), random: seeded(1), isOver: () => false, count: (much) => (count += much) });
process.stdout.write("abusing\n");
setTimeout(() => process.exit(0), 120_000);
createInterface(process.stdin)
  .on("line", () => process.stdout.write(`${count}\n`))
  .on("close", () => process.exit(0));
