/** The watch of a real etcd with TLS and users: what it needs, and what it goes on without. */
import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import type { AccessMaterial } from "../../src/core/config/access-material.ts";
import { EtcdSource } from "../../src/features/dcs/etcd-source.ts";
import { ScopeWatcher } from "../../src/features/dcs/scope-watcher.ts";
import { until } from "../fake/until.ts";
import { EtcdMembers, reader } from "./lab/etcd-members.ts";
import { missingProgram } from "./lab/versions.ts";

const missing = missingProgram();
/** How long a token is valid, in s: less than the time between two reads. */
const tokenTtlS = 1;

describe(
  "the watch of an etcd with TLS and users",
  { skip: missing === undefined ? false : `not run: ${missing} is missing`, timeout: 120_000 },
  () => {
    let etcd: EtcdMembers;
    before(async () => {
      etcd = await EtcdMembers.start({ count: 1, isOverTls: true, tokenTtlS });
      await etcd.lead("pg1");
      await etcd.requireUsers();
    });
    after(async () => etcd?.stop());

    test("reads and watches with the right to read the keys of the scope, and no other", async (context) => {
      const { results, ends } = watch(context);
      await seen(results, "pg1");
      await etcd.lead("pg2");
      await seen(results, "pg2");
      assert.deepEqual([results, ends], [["pg1", "pg2"], []]);
      const other = watch(context, { scope: "other" });
      await until("a refusal", () => other.results.length > 0);
      assert.deepEqual(other.results, ["status: etcd answers status 403, etcdserver: permission denied"]);
    });

    test("a token that expires while it watches ends nothing", async (context) => {
      const { results, ends, reads } = watch(context);
      await until({ what: "reads after the token has expired", seconds: 30 }, () => reads.length >= 3);
      await etcd.lead("pg3");
      await seen(results, "pg3");
      assert.deepEqual([results, ends], [["pg2", "pg3"], []]);
      assert.ok(
        reads.every((outcome) => outcome === "answered"),
        reads.join(),
      );
    });

    test("a right that is taken away is a lost DCS, and its return a change that was missed", async (context) => {
      const { results } = watch(context);
      await seen(results, "pg3");
      await etcd.forbidReading();
      await seen(results, "status: etcd answers status 403, etcdserver: permission denied");
      await etcd.lead("pg1");
      await etcd.allowReading();
      await seen(results, "pg1");
      assert.equal(results.length, 3);
    });

    test("an etcd that has forgotten its tokens gives another one", async (context) => {
      const { results } = watch(context);
      await seen(results, "pg1");
      await etcd.kill(0);
      await etcd.again(0);
      await etcd.lead("pg2");
      await seen(results, "pg2");
    });

    test("a wrong password, no user, and an unknown authority are failures that say so", async (context) => {
      for (const [parts, failure] of [
        [
          { auth: { ...reader, password: "wrong" } },
          /^status: etcd refuses user rolecall: status 400, .*authentication failed/,
        ],
        [{ auth: null }, /^status: etcd answers status 400, .*user name is empty/],
        [{ tls: {} }, /^tls: /],
      ] as const) {
        const { results } = watch(context, parts);
        await until({ what: String(failure), seconds: 15 }, () => results.length > 0);
        assert.match(results[0] ?? "", failure);
      }
    });

    /** Watches until the test ends. */
    function watch(
      context: TestContext,
      { scope = "demo", ...parts }: Partial<AccessMaterial> & { readonly scope?: string } = {},
    ): { readonly results: string[]; readonly ends: string[]; readonly reads: string[] } {
      const found = { results: [] as string[], ends: [] as string[], reads: [] as string[] };
      const access = { tls: { ca: etcd.tls?.authority ?? "" }, auth: reader, ...parts };
      const source = new EtcdSource({ endpoints: etcd.urls, prefix: "/service", scope }, access, 1_500);
      const watcher = new ScopeWatcher(source, {
        now: () => performance.now(),
        random: Math.random,
        onResult: (result) =>
          found.results.push(
            "read" in result ? (result.read.leader ?? "nobody") : `${result.failure.kind}: ${result.failure.detail}`,
          ),
        onHint: () => {},
        onRead: (outcome) => found.reads.push(outcome),
        onWatchEnd: ({ cause, detail }) => found.ends.push(`${cause}: ${detail}`),
      });
      context.after(() => watcher.stop());
      watcher.start();
      return found;
    }

    async function seen(results: readonly string[], last: string): Promise<void> {
      await until({ what: last, seconds: 30, evidence: () => results.join("\n") }, () => results.at(-1) === last);
    }
  },
);
