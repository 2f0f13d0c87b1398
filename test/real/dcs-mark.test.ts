/**
 * A real etcd that refuses for 4 s while the leader key moves (rule 2, step 17). The old primary claims on, and every
 * other `/cluster` still names it: Patroni answers from a cache. The new leader, refused beside the old one, must get its
 * yes once rolecall reaches etcd again, although no view but its own names it; the old one must lose its own.
 */
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeNode } from "../fake/fake-node.ts";
import { answerProbe } from "../fake/node-documents.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { Child } from "./lab/child.ts";
import { CutProxy } from "./lab/cut-proxy.ts";
import { startWithDcs } from "./lab/dcs-rolecall.ts";
import { EtcdMembers } from "./lab/etcd-members.ts";
import { ports } from "./lab/ports.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();
const names = ["pg1", "pg2", "pg3"] as const;
type Name = (typeof names)[number];
/** For how long etcd refuses, and how long after that begins the key moves and the new leader claims, in ms. */
const [refusesMs, movesMs, claimsMs] = [4_000, 1_000, 2_000];
/** For how long both nodes are watched after etcd answers again: longer than a refused view counts, in ms. */
const watchedMs = 8_000;

describe(
  "a key that moves while a real etcd refuses",
  { skip: missing === undefined ? false : `not run: ${missing} is missing`, timeout: 120_000 },
  () => {
    let etcd: EtcdMembers;
    let proxy: CutProxy;
    let rolecall: Child;
    const claims = new Set<Name>(["pg1"]);
    const nodes = names.map(
      (name) =>
        new FakeNode({
          name,
          holdsLock: name === "pg1",
          handler: (request, response) => answer(name, request, response),
        }),
    );

    /** Each node says for itself whether it holds the lock. Their views name pg1, but that of a pg2 that claims the lock. */
    function answer(name: Name, { url = "" }: IncomingMessage, response: ServerResponse): void {
      const members = new Map(nodes.map((node) => [node.name, node.api]));
      const role = claims.has(name) ? "primary" : "replica";
      const known = { name, members, databases: new Map<string, number>(), fields: { role } };
      const seen = name === "pg2" && claims.has(name) ? name : "pg1";
      const own = claims.has(name) ? name : "";
      const probed = answerProbe({ ...known, leader: url === "/leader" ? own : seen }, url) ?? { status: 502 };
      response.shouldKeepAlive = false;
      const text = "document" in probed ? JSON.stringify(probed.document) : "";
      response.writeHead(probed.status).end(text);
    }

    before(async () => {
      etcd = await EtcdMembers.start({ count: 1 });
      await etcd.lead("pg1");
      proxy = await CutProxy.start(Number(new URL(etcd.urls[0] ?? "").port), () => {});
      for (const node of nodes) await node.open();
      rolecall = await startWithDcs(etcd.folder, nodes, { etcd: [`http://127.0.0.1:${proxy.port}`] });
    });
    after(async () => {
      await rolecall?.stop();
      proxy?.close();
      for (const node of nodes) await node.close();
      await etcd?.stop();
    });

    test("the new leader gets its yes after the reconnect, and the old one loses its own", async () => {
      const wait = { what: "a yes for pg1 and a watch", seconds: 30, evidence: (): string => rolecall.tail };
      await until(wait, async () => {
        const { body } = await ask({ port: ports.rolecallAdmin, path: "/metrics" });
        return /rolecall_dcs_up\{[^}]*\} 1/.test(body) && (await primary("pg1")).status === 200;
      });
      proxy.set("closed");
      await sleep(movesMs);
      await etcd.lead("pg2");
      await sleep(claimsMs - movesMs);
      claims.add("pg2");
      await until({ ...wait, what: "a refusal of pg2 beside pg1" }, async () => {
        const { status, reason } = await primary("pg2");
        return status === 503 && reason === "superseded" && (await primary("pg1")).status === 200;
      });
      await sleep(refusesMs - claimsMs);
      proxy.set("open");
      await until({ ...wait, what: "a yes for pg2" }, async () => {
        const [one, two] = await Promise.all([primary("pg1"), primary("pg2")]);
        assert.ok(one.status !== 200 || two.status !== 200 || one.repliedAtMs < two.sentAtMs, "both have a yes");
        return two.status === 200;
      });
      const endMs = performance.now() + watchedMs;
      while (performance.now() < endMs) {
        assert.equal((await primary("pg1")).status, 503, `pg1\n${rolecall.tail}`);
        assert.equal((await primary("pg2")).status, 200, `pg2\n${rolecall.tail}`);
        await sleep(50);
      }
      assert.equal((await primary("pg1")).reason, "superseded");
    });

    function primary(name: Name): ReturnType<typeof ask> {
      return ask({ port: ports.rolecall, path: `/nodes/${name}/primary` });
    }
  },
);
