/**
 * Faults of a real etcd of three members, each with a leader key that leaves its holder, while the holder goes on
 * claiming the lock. The promise: no yes for that node later than 50 ms after the event (or the read) was delivered to
 * rolecall. On a busy machine the time that etcd takes for the confirming read, and the slowest answer of rolecall,
 * come on top. DCS_FAULTS sets how many faults there are; the default is one of each kind. The figures are printed.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { FakeNode } from "../fake/fake-node.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { Child } from "./lab/child.ts";
import { CutProxy } from "./lab/cut-proxy.ts";
import { startWithDcs } from "./lab/dcs-rolecall.ts";
import { EtcdMembers, reader } from "./lab/etcd-members.ts";
import { ports } from "./lab/ports.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();
/** How long after the delivery a yes may still be sent, in ms. */
const promiseMs = 50;
const key = Buffer.from("/service/demo/leader").toString("base64");

/** When a change of the leader key reached rolecall. */
interface Delivery {
  /** The revision of the change; `null`: it is not known yet. */
  revision: number | null;
  /** What passed to rolecall since the fault, with its instants. */
  readonly passed: { readonly atMs: number; readonly text: string }[];
}

/** What one fault led to, in ms after the delivery. */
interface Figures {
  /** When the last yes was requested; negative: before the delivery. */
  readonly lateMs: number;
  /** When the read that confirms the event was delivered; 0 where a read was first. */
  readonly readMs: number;
  /** How long the slowest answer of rolecall took. */
  readonly slowestMs: number;
}

describe(
  "faults of a real etcd",
  { skip: missing === undefined ? false : `not run: ${missing} is missing`, timeout: 400_000 },
  () => {
    let etcd: EtcdMembers;
    let rolecall: Child;
    const proxies: CutProxy[] = [];
    const nodes = ["pg1", "pg2"].map((name) => new FakeNode({ name, holdsLock: name === "pg1" }));
    let delivery: Delivery = { revision: null, passed: [] };

    before(async () => {
      etcd = await EtcdMembers.start({ count: 3 });
      await etcd.lead("pg1");
      await etcd.requireUsers();
      for (const url of etcd.urls)
        proxies.push(
          await CutProxy.start(Number(new URL(url).port), (text) => {
            delivery.passed.push({ atMs: performance.now(), text });
          }),
        );
      for (const node of nodes) await node.open();
      for (const node of nodes) {
        node.members = new Map(nodes.map(({ name, api }) => [name, api]));
        node.leader = "pg1";
      }
      rolecall = await start();
    });
    after(async () => {
      await rolecall?.stop();
      for (const proxy of proxies) proxy.close();
      for (const node of nodes) await node.close();
      await etcd?.stop();
    });

    test("no yes for a node that the DCS has replaced, 50 ms after that was delivered", async () => {
      const faults: readonly (readonly [name: string, fault: () => Promise<() => Promise<void> | void>])[] = [
        ["key moved", async () => () => {}],
        ["key deleted", async () => () => {}],
        ["lease revoked", async () => () => {}],
        ["compaction", async () => compact()],
        ["member killed", async () => kill(await used())],
        ["member frozen", async () => etcd.freeze(await used())],
        ["connections closed", async () => cut(await used(), "closed")],
        ["connections stopped", async () => cut(await used(), "stopped")],
        ["no quorum", async () => noQuorum()],
        ["right taken away", async () => forbid()],
      ];
      const count = Number(process.env["DCS_FAULTS"] ?? faults.length);
      const figures: (Figures & { readonly fault: string })[] = [];
      for (let at = 0; at < count; at += 1) {
        const [fault = "", inject] = faults[at % faults.length] ?? [];
        await whole();
        const measured = await measure(fault, inject ?? (async () => () => {}));
        figures.push({ fault, ...measured });
        const { lateMs, readMs, slowestMs } = measured;
        assert.ok(lateMs <= promiseMs + readMs + slowestMs, `${fault}: ${JSON.stringify(measured)}`);
      }
      const worst = figures.toSorted((one, other) => other.lateMs - one.lateMs);
      const middle = worst[Math.floor(worst.length / 2)];
      const late = worst.filter(({ lateMs }) => lateMs > promiseMs);
      const byFault = [...new Set(figures.map(({ fault }) => fault))].map((fault) => {
        const of = worst.find((one) => one.fault === fault);
        return `${fault} ${of?.lateMs.toFixed(1)} ms (etcd confirmed it after ${of?.readMs.toFixed(1)} ms)`;
      });
      console.log(
        `${count} faults: delivery -> last yes requested: median ${middle?.lateMs.toFixed(1)} ms, ` +
          `${late.length} later than ${promiseMs} ms; worst of each: ${byFault.join(", ")}`,
      );
    });

    /** Injects a fault, and lets the key leave pg1. */
    async function measure(fault: string, inject: () => Promise<() => Promise<void> | void>): Promise<Figures> {
      let [lastYesMs, isRefused] = [0, false];
      const polled = { isOver: false };
      const replies: Pick<Awaited<ReturnType<typeof ask>>, "sentAtMs" | "repliedAtMs">[] = [];
      const polling = (async () => {
        while (!polled.isOver) {
          const reply = await primary();
          replies.push(reply);
          if (reply.status === 200) lastYesMs = reply.sentAtMs;
          isRefused = reply.status === 503 && reply.reason === "superseded";
          await sleep(1);
        }
      })();
      try {
        const lease = fault === "lease revoked" ? await leased() : null;
        const heal = await inject();
        delivery = { revision: null, passed: [] };
        const gone = fault === "key deleted" || fault === "lease revoked";
        const change = lease === null ? etcd.lead(gone ? null : "pg2") : revoke(lease);
        // What hides the change from rolecall ends at some time after it.
        if (["no quorum", "right taken away"].includes(fault)) await Promise.all([change, sleep(500).then(heal)]);
        delivery.revision = await change;
        const wait = { what: `a refusal after ${fault}`, seconds: 30, evidence: () => rolecall.tail };
        await until(wait, () => isRefused);
        await sleep(100);
        await heal();
      } finally {
        polled.isOver = true;
        await polling;
      }
      const [atMs, confirmedMs] = [passedAtMs(delivery, true), passedAtMs(delivery, false)];
      assert.ok(atMs !== undefined && confirmedMs !== undefined, `${fault}: a refusal without a read`);
      const later = replies.filter(({ repliedAtMs }) => repliedAtMs >= atMs);
      const slowestMs = Math.max(0, ...later.map(({ sentAtMs, repliedAtMs }) => repliedAtMs - sentAtMs));
      return { lateMs: lastYesMs - atMs, readMs: confirmedMs - atMs, slowestMs };
    }

    /** Waits until pg1 has its yes, every fault is healed, and the DCS is watched. */
    async function whole(): Promise<void> {
      await etcd.lead("pg1");
      const wait = { what: "a yes for pg1", seconds: 30, evidence: () => rolecall.tail };
      await until(wait, async () => (await primary()).status === 200);
      await until({ ...wait, what: "a watch" }, async () => {
        const { body } = await ask({ port: ports.rolecallAdmin, path: "/metrics" });
        return /rolecall_dcs_up\{[^}]*\} 1/.test(body) && proxies.some(({ connections }) => connections >= 2);
      });
    }

    function primary(): ReturnType<typeof ask> {
      return ask({ port: ports.rolecall, path: "/nodes/pg1/primary" });
    }

    /** The member that rolecall watches. */
    async function used(): Promise<number> {
      return until("a member in use", () => {
        const at = proxies.findIndex(({ connections }) => connections >= 2);
        return at < 0 ? undefined : at;
      });
    }

    async function kill(at: number): Promise<() => Promise<void>> {
      await etcd.kill(at);
      return () => etcd.again(at);
    }

    function cut(at: number, state: "closed" | "stopped"): () => void {
      proxies[at]?.set(state);
      return () => proxies[at]?.set("open");
    }

    async function compact(): Promise<() => void> {
      const at = await used();
      proxies[at]?.set("closed");
      const revision = await etcd.lead("pg1");
      await etcd.call("/v3/kv/compaction", { revision: String(revision), physical: true });
      proxies[at]?.set("open");
      return () => {};
    }

    function noQuorum(): () => void {
      const thaws = [etcd.freeze(0), etcd.freeze(1)];
      return () => thaws.forEach((thaw) => thaw());
    }

    async function forbid(): Promise<() => Promise<void>> {
      await etcd.forbidReading();
      let isForbidden = true;
      return async () => {
        if (isForbidden) await etcd.allowReading();
        isForbidden = false;
      };
    }

    /** Gives the leader key a lease. @returns its id */
    async function leased(): Promise<string> {
      const { ID: id } = (await etcd.call("/v3/lease/grant", { TTL: 60 })) as { readonly ID: string };
      await etcd.lead("pg1", id);
      return id;
    }

    /** @returns the revision of the deletion */
    async function revoke(id: string): Promise<number> {
      const { header } = (await etcd.call("/v3/lease/revoke", { ID: id })) as { header: { revision: string } };
      return Number(header.revision);
    }

    async function start(): Promise<Child> {
      const passwordFile = join(etcd.folder, "password");
      writeFileSync(passwordFile, reader.password, { mode: 0o600 });
      const auth = { user: reader.user, password_file: passwordFile };
      return startWithDcs(etcd.folder, nodes, { etcd: proxies.map(({ port }) => `http://127.0.0.1:${port}`), auth });
    }
  },
);

/** When rolecall got the change first: the event, or a read at its revision or a later one. */
function passedAtMs({ revision, passed }: Delivery, countsEvents: boolean): number | undefined {
  if (revision === null) return undefined;
  return passed.find(({ text }) => {
    const isEvent = text.includes(`"mod_revision":"${revision}"`) && text.includes(key);
    const [, read] = /(?<!"result":)\{"header":\{[^}]*"revision":"(\d+)"/.exec(text) ?? [];
    return (countsEvents && isEvent) || Number(read ?? 0) >= revision;
  })?.atMs;
}
