/** Real HAProxys that follow rolecall as they should: the audit finds nothing in what happens then. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { plainCheck } from "../../src/core/health/check.ts";
import { haproxyBackendOf, listenerOf } from "../fake/config.ts";
import { freePort } from "../fake/free-port.ts";
import { AuditLab, echoDatabases, folderOf, runtimeCommand, sessionsAt } from "./lab/audit-lab.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { EchoDatabase, EchoSession } from "./lab/echo-database.ts";

/** How much longer than the mechanism's own delay it takes to name what differs, in s. */
const namedWithinS = 5;
const check = plainCheck("primary");

suite("the audit of real balancers that follow", { concurrency: false }, () => {
  for (const { kind, title, found } of balancerPrograms())
    if (kind === "haproxy")
      test(
        `finds nothing on ${title} in 5 switchovers and 3 kills, and a pool that is closed by hand`,
        { skip: "notRun" in found ? found.notRun : false },
        async (context) => {
          if ("path" in found) await auditHealthyHaproxy(context, found.path);
        },
      );
});

/** How often new clients come, in ms. */
const arrivalMs = 50;

/**
 * HAProxy as it is rendered, with clients that come and go all the time, while the primary is switched over 5 times and
 * is killed 3 times: nothing of that is a finding. Then its only server is closed by hand, which is one.
 */
async function auditHealthyHaproxy(context: TestContext, path: string): Promise<void> {
  const folder = folderOf();
  const socket = join(folder, "haproxy.sock");
  const [port, checksPort] = [await freePort(), await freePort()];
  const databases = new Map((await echoDatabases(context)).map((database) => [database.name, database]));
  const ports = [...databases].map(([name, database]) => [name, database.port] as const);
  const lab = await AuditLab.start(
    context,
    ports.map(([, at]) => at),
    {
      listen: [listenerOf({ dialect: "admin" }), listenerOf({ port: checksPort })],
      audit: { intervalMs: 1_000, envoys: [] },
      balancers: [
        {
          name: "lb1",
          haproxy: {
            socket: { path: socket },
            zone: null,
            cutSessions: true,
            backends: [haproxyBackendOf({ check, interMs: 1_000 })],
          },
        },
      ],
    },
  );
  const servers = ports.map(
    ([name, at]) =>
      `  server ${name} 127.0.0.1:${at} check addr 127.0.0.1 port ${checksPort} inter 1s fastinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions\n`,
  );
  writeFileSync(
    join(folder, "haproxy.cfg"),
    `global
  stats socket ${socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
  retries 3
  option redispatch 1
listen w
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth OPTIONS uri /primary ver HTTP/1.1 hdr Host rolecall hdr X-Rolecall-Node %[srv_name]
${servers.join("")}`,
  );
  const child = new Child({ name: "haproxy", command: [path, "-db", "-f", join(folder, "haproxy.cfg")], folder });
  context.after(() => child.stop());
  const kept = await sessionsAt(port, 3);
  const clients = setInterval(() => void EchoSession.open(port).then((session) => session?.close()), arrivalMs);
  const seen: string[] = [];
  const watch = setInterval(() => void lab.words().then((words) => seen.push(...words)), 200);
  context.after(() => [clients, watch].forEach((timer) => clearInterval(timer)));
  const elapse = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));
  const others = (leader: string): string => (leader === "pg1" ? "pg2" : "pg1");
  let leader = "pg1";
  for (let round = 0; round < 5; round += 1) {
    lab.lead("");
    await elapse(1_500);
    leader = others(leader);
    lab.lead(leader);
    await elapse(6_000);
  }
  for (const name of ["pg1", "pg2"]) {
    const { accepted = 0 } = databases.get(name) ?? {};
    assert.ok(accepted > 20, `${name} had ${accepted} sessions`);
  }
  for (let round = 0; round < 3; round += 1) {
    const [dead, at] = [leader, databases.get(leader)?.port ?? 0];
    const node = lab.nodes.find(({ name }) => name === dead);
    await Promise.all([databases.get(dead)?.stop(), node?.close()]);
    await elapse(2_000);
    leader = others(leader);
    lab.lead(leader);
    await elapse(5_000);
    databases.set(dead, await EchoDatabase.start(dead, at));
    await node?.open();
    await elapse(5_000);
  }
  clearInterval(watch);
  assert.deepEqual([...new Set(seen)], []);
  await runtimeCommand(socket, `set server w/${leader} state maint`);
  await lab.finds([`starved ${leader}`], 4 + namedWithinS);
  assert.match((await lab.words()).join(), /takes no session \(MAINT\), and no other server leads to a fit node/);
  await runtimeCommand(socket, `set server w/${leader} state ready`);
  await lab.finds([], namedWithinS);
  for (const session of kept) session.close();
  for (const database of databases.values()) await database.stop();
}
