/**
 * `fake-haproxies COUNT BACKENDS SERVERS`: HAProxies at Unix sockets, each with the backends `w0` upwards of so many
 * servers, `pg1` upwards. Prints the paths of the sockets as JSON. Answers every line on stdin with the number of
 * backends that the audit has read so far. Ends with stdin.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { FakeHaproxy } from "../../test/fake/fake-haproxy.ts";

const [count = 0, backends = 0, servers = 0] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-haproxy-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const names = Array.from(
  { length: backends * servers },
  (_, at) => `w${Math.floor(at / servers)}/pg${(at % servers) + 1}`,
);
const all = Array.from({ length: count }, () => new FakeHaproxy(names));
const paths = all.map((_, at) => join(folder, `${at}.sock`));
await Promise.all(
  all.map((haproxy, at) => new Promise<void>((resolve) => haproxy.server().listen(paths[at], resolve))),
);
console.log(JSON.stringify(paths));
createInterface(process.stdin)
  .on("line", () => console.log(all.reduce((sum, { audits }) => sum + audits, 0)))
  .on("close", () => process.exit());
