/**
 * A real process that gets some 4 % of a processor: it is stopped for most of the time. It asks its nodes too late and
 * their evidence ages, but nothing speaks against them (rule 16). The read pool that it pushes to a balancer, and those
 * that other programs read from it, must keep all their members.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeHaproxy } from "../fake/fake-haproxy.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { until } from "../fake/until.ts";

/** Longer than `max_age` (5.5 s): all evidence is too old whenever the process goes on. */
const stoppedMs = 6_000;
const runsMs = 240;
const rounds = 3;

interface Read {
  readonly status: number;
  readonly body: string;
}

test("a starved process keeps its pools, and says that it is late", { timeout: 120_000 }, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const haproxy = new FakeHaproxy(["write/pg1", "write/pg2", "write/pg3", "read/pg1", "read/pg2", "read/pg3"]);
  await haproxy.listen(context);
  const port = await freePort();
  const file = writeConfigFile(
    context,
    JSON.stringify({
      clusters: [
        {
          name: "demo",
          nodes: nodes.map(({ name, api }) => ({ name, api, database: `127.0.0.1:${5430 + Number(name.slice(2))}` })),
        },
      ],
      pools: [{ name: "demo-read", cluster: "demo", check: "/replica" }],
      balancers: [
        {
          name: "edge",
          haproxy: {
            socket: `127.0.0.1:${haproxy.port}`,
            backends: [
              { name: "write", cluster: "demo", check: "/primary" },
              { name: "read", cluster: "demo", check: "/replica" },
            ],
          },
        },
      ],
      listen: [{ port, dialect: "admin" }],
      workers: 0,
    }),
  );
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  const read = async (path: string): Promise<Read | null> => {
    try {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(stoppedMs + 5_000) });
      return { status: reply.status, body: await reply.text() };
    } catch {
      return null;
    }
  };
  const wait = { what: "a whole pool, and every server set", seconds: 60, evidence: () => running.stderr };
  await until(wait, async () => {
    const pool = await read("/pools?format=traefik");
    return (
      members(pool) === "127.0.0.1:5432 127.0.0.1:5433" && haproxy.commands.some((one) => one.includes("read/pg3"))
    );
  });
  const before = haproxy.commands.length;

  const polled: (Read | null)[] = [];
  for (let round = 0; round < rounds; round += 1) {
    running.process.kill("SIGSTOP");
    // It waits in the listener's queue, and is answered before the nodes are.
    const asked = [read("/pools?format=traefik"), read("/pools?format=traefik")];
    await sleep(stoppedMs);
    running.process.kill("SIGCONT");
    await sleep(runsMs);
    polled.push(...(await Promise.all(asked)));
  }
  await until({ ...wait, what: "evidence in time again" }, async () => (await read("/readyz"))?.status === 200);
  polled.push(await read("/pools?format=traefik"));

  for (const pool of polled) assert.equal(members(pool), "127.0.0.1:5432 127.0.0.1:5433", running.stderr);
  const closed = haproxy.commands.slice(before).filter((command) => !/ (?:up|ready)$/.test(command));
  assert.deepEqual(closed, [], running.stderr);
  assert.match(running.stderr, /"event":"late_here"/, running.stderr);
});

/** The members of the read pool that Traefik gets. */
function members(reply: Read | null): string | null {
  if (reply === null || reply.status !== 200) return null;
  return [...reply.body.matchAll(/"address":\s*"([^"]+)"/g)]
    .map(([, address = ""]) => address)
    .toSorted()
    .join(" ");
}
