/** A watch of a real etcd of three members, of which one hangs, and then two: no quorum. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { EtcdSource } from "../../src/features/dcs/etcd-source.ts";
import { ScopeWatcher } from "../../src/features/dcs/scope-watcher.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { Child, giveToPostgres } from "./lab/child.ts";
import { freeze } from "./lab/freeze.ts";
import { ports, requireFree } from "./lab/ports.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();
const members = [1, 2, 3].map((number) => ({ name: `m${number}`, port: ports.etcdPeer + 2 * number - 1 }));
const key = Buffer.from("/service/demo/leader").toString("base64");

describe(
  "the watch of three etcd members",
  { skip: missing === undefined ? false : `not run: ${missing} is missing` },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-etcd-"));
    let children: readonly Child[] = [];

    before(async () => {
      await requireFree(members.flatMap(({ port }) => [port, port + 1]));
      giveToPostgres(folder);
      const all = members.map(({ name, port }) => `${name}=http://127.0.0.1:${port + 1}`).join(",");
      children = members.map(({ name, port }) => {
        const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`];
        const clientUrls = ["--listen-client-urls", client, "--advertise-client-urls", client];
        const peerUrls = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", all];
        const command = ["etcd", "--name", name, "--data-dir", join(folder, name), ...clientUrls, ...peerUrls] as const;
        return new Child({ name, command, folder, asPostgres: true });
      });
      await until({ what: "three healthy members", seconds: 20 }, async () => {
        const replies = await Promise.all(members.map(({ port }) => ask({ port, path: "/health" })));
        return replies.every(({ status }) => status === 200);
      });
    });
    after(async () => {
      await Promise.all(children.map((child) => child.stop()));
      rmSync(folder, { recursive: true, force: true });
    });

    test("goes on beside one member that hangs, reports a loss of quorum, and returns after it", async () => {
      const endpoints = members.map(({ port }) => `http://127.0.0.1:${port}`);
      const source = new EtcdSource({ endpoints, prefix: "/service", scope: "demo" }, { tls: {}, auth: null }, 1_500);
      const results: string[] = [];
      const watcher = new ScopeWatcher(source, {
        now: () => performance.now(),
        random: Math.random,
        onResult: (result) => results.push("read" in result ? (result.read.leader ?? "nobody") : "failure"),
        onHint: () => {},
        onRead: () => {},
        onWatchEnd: () => {},
      });
      const thaws: (() => void)[] = [];
      const hang = (at: number): void => void thaws.push(freeze(children[at]?.pid ?? 0));
      const seen = (leader: string): Promise<boolean> =>
        until({ what: leader, seconds: 30, evidence: () => results.join() }, () => results.at(-1) === leader);
      try {
        watcher.start();
        await seen("nobody");
        await put("pg1");
        await seen("pg1");
        hang(0);
        const hungMs = performance.now();
        await put("pg2");
        await seen("pg2");
        console.log(
          `one of three members hung: the next change was read after ${Math.round(performance.now() - hungMs)} ms`,
        );
        assert.ok(!results.includes("failure"), results.join());
        hang(1);
        await seen("failure");
        for (const thaw of thaws) thaw();
        await seen("pg2");
      } finally {
        for (const thaw of thaws) thaw();
        watcher.stop();
      }
    });
  },
);

/** Writes the leader key, through the third member. Another leader of etcd may have to be elected first. */
async function put(leader: string): Promise<void> {
  const body = { key, value: Buffer.from(leader).toString("base64") };
  await until({ what: "a write", seconds: 20 }, async () => {
    const reply = await ask({ port: members[2]?.port ?? 0, path: "/v3/kv/put", method: "POST", body });
    return reply.status === 200;
  });
}
