/** `workers: auto` counts the nodes that a reload finds (docs/operations.md, "Workers"). */
import { renameSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { type FakeNode, openFakeNode } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { workersAnswer } from "../../fake/workers-answer.ts";

const limit = { timeout: 120_000 };
const names = ["a", "b", "c", "d"];

test("a reload that brings clusters of many discovered nodes brings the worker, too", limit, async (context) => {
  const nodes = await Promise.all(names.map((name) => openFakeNode({ name: `${name}0`, holdsLock: true })));
  for (const [at, node] of nodes.entries()) {
    context.after(() => node.close());
    // Others do not answer. A cluster has 64 members at most.
    for (let other = 1; other <= 60; other += 1)
      node.members = new Map([...node.members, [`${names[at]}${other}`, `http://127.0.${at + 1}.${other}:9`]]);
  }
  const [health, admin] = [await freePort(), await freePort()];
  const textOf = (nodesOf: (node: FakeNode) => string): string => `clusters:
${nodes.map((node, at) => `  - { name: ${names[at]}, scope: demo, ${nodesOf(node)} }`).join("\n")}
listen: [{ port: ${health}, whole_cluster: true }, { port: ${admin}, dialect: admin }]
drain: 0s
`;
  const file = writeConfigFile(
    context,
    textOf(({ name, api }) => `nodes: [{ name: ${name}, api: "${api}" }]`),
  );
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog('"msg":"listening"', 2);
  writeFileSync(
    `${file}.new`,
    textOf(({ api }) => `discover: ["${api}"]`),
  );
  renameSync(`${file}.new`, file);
  running.process.kill("SIGHUP");
  await running.waitForLog('"event":"reload_applied"', 1);
  await workersAnswer(`http://127.0.0.1:${admin}`, 1);
});
