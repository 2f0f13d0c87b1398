/** The ports of the tests: a test that depends on one must not lose it to another process of the tests. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { ports } from "../real/lab/ports.ts";
import { freePort, freePorts, hold } from "./free-port.ts";

const run = promisify(execFile);

test("gives ports in turn, each once, between its limits", async () => {
  const given: number[] = [];
  while (given.length < 99) given.push(await freePort());
  assert.equal(new Set(given).size, given.length);
  assert.ok(Math.min(...given) > freePorts.first && Math.max(...given) < freePorts.end);
});

test("gives none of the lab's ports", () => {
  assert.ok(Math.min(...Object.values(ports)) >= freePorts.end);
});

test("skips a port that is in use", async (context) => {
  const next = (await freePort()) + 1;
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(next, "127.0.0.1", resolve));
  context.after(() => server.close());
  assert.equal(await freePort(), next + 1);
});

test("gives a port with those after it, also at the end of the block", async () => {
  const given: number[] = [];
  while (given.length < 60) given.push(await freePort(1));
  const all = given.slice(-49).flatMap((port) => [port, port + 1]);
  assert.equal(new Set(all).size, all.length);
});

test("no two processes get the same port, nor one that another holds", async () => {
  const module = JSON.stringify(new URL("free-port.js", import.meta.url).href);
  const script = `const { freePort } = await import(${module}); console.log(await freePort())`;
  // Each ends only once its standard input is closed, so all hold their blocks together.
  const waits = "process.stdin.resume()";
  const children = Array.from({ length: 4 }, () =>
    run(process.execPath, ["--input-type=module", "-e", `${script}; ${waits}`], { timeout: 60_000 }),
  );
  const firsts = await Promise.all(
    children.map(
      ({ child }) =>
        new Promise<number>((resolve) => void child.stdout?.once("data", (line) => resolve(Number(String(line))))),
    ),
  );
  const blocks = firsts.map((port) => port - 1);
  assert.deepEqual(await Promise.all(blocks.map(hold)), [false, false, false, false]);
  assert.equal(new Set(blocks).size, blocks.length);
  for (const { child } of children) child.stdin?.end();
  await Promise.all(children);
});
