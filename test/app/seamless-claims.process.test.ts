/** Two rolecalls with the same poolers, each with the other among its peers, that begin a seamless switchover at the same time. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import type { RunDocument } from "../../src/features/switchover/run/run-document.ts";
import type { FakePgbouncer } from "../fake/fake-pgbouncer.ts";
import { freePort } from "../fake/free-port.ts";
import { gatewayFixture, type GatewayFixture } from "../fake/gateway-fixture.ts";
import { sharedPoolers } from "../fake/shared-poolers.ts";
import { until } from "../fake/until.ts";

/** One of the two, and what is done with it. */
interface Edge {
  readonly gateway: GatewayFixture;
  readonly stateFile: string;
  begin(body?: object, query?: string): Promise<void>;
  ended(): Promise<RunDocument>;
}

const headers = { authorization: "Bearer secret", "content-type": "application/json" };

async function startEdges(
  context: TestContext,
  { isMutual = true }: { readonly isMutual?: boolean } = {},
): Promise<{ readonly edges: readonly [Edge, Edge]; readonly poolers: readonly FakePgbouncer[] }> {
  const { folder, tokenFile, poolers, configured } = await sharedPoolers(context, "seamless-claims");
  const ports = [await freePort(), await freePort()];
  const peerAt = (at: number): object => ({
    name: `core${at + 1}`,
    url: `http://127.0.0.1:${ports[at]}`,
    tokenFile,
    tls: null,
  });
  const start = async (at: number): Promise<Edge> => {
    const stateFile = join(folder, `state${at}.json`);
    const gateway = await gatewayFixture({
      listener: { dialect: "admin", port: ports[at] ?? 0 },
      access: {
        auth: { for: "unsafe", basic: [], bearer: [tokenFile], certificate: false },
        pauseTokens: [tokenFile],
      },
      config: {
        stateFile,
        // A transaction runs while others are asked, however busy the machine is.
        poolers: configured.map((pooler) => ({ ...pooler, pauseLimitMs: 12_000 })),
        peers: at === 1 && !isMutual ? [] : ([peerAt(1 - at)] as never),
      },
    });
    context.after(() => gateway.close());
    return {
      gateway,
      stateFile,
      begin: async (body = {}, query = "") => {
        const asked = { seamless: true, route_wait: "0s", candidate: "pg2", ...body };
        const path = `/clusters/demo/switchover${query}`;
        const answer = await gateway.request(path, { method: "POST", headers, body: JSON.stringify(asked) });
        assert.equal(answer.status, 202, answer.body);
      },
      ended: () =>
        until({ what: "the end of the run", seconds: 30 }, async () => {
          const { body } = await gateway.request("/clusters/demo/switchover/run");
          const run = JSON.parse(body) as RunDocument;
          return run.state === "ended" ? run : undefined;
        }),
    };
  };
  return { edges: [await start(0), await start(1)], poolers };
}

describe("two edges", { timeout: 120_000 }, () => {
  test("that begin at once: one switches over, the other one pauses and requests nothing", async (context) => {
    const { edges, poolers } = await startEdges(context);
    await Promise.all(edges.map((edge) => edge.begin()));
    const runs = await Promise.all(edges.map((edge) => edge.ended()));
    const kinds = runs.map(({ outcome }) => outcome?.kind ?? "none").toSorted((one, other) => one.localeCompare(other));
    assert.ok(kinds.includes("refused"), JSON.stringify(runs.map(({ outcome }) => outcome)));
    assert.deepEqual(
      runs.map(({ steps }) => steps.some(({ step }) => step === "requested")).filter(Boolean).length,
      kinds.includes("switched") ? 1 : 0,
    );
    assert.ok(
      poolers.every(
        ({ isPaused, changes }) => !isPaused && changes.filter((one) => one === "PAUSE orders").length <= 1,
      ),
    );
  });

  test("one after the other: the second one is refused while the first one runs, and goes on after it", async (context) => {
    const { edges, poolers } = await startEdges(context);
    const [first, second] = edges;
    poolers[0]?.begin();
    await first.begin();
    await until("a PAUSE", () => poolers.every(({ isPaused }) => isPaused));
    assert.match(readFileSync(`${second.stateFile}.claims`, "utf8"), /"cluster": "demo"/);
    await second.begin({}, "?dry_run=1");
    const refused = await second.ended();
    assert.match(refused.text ?? "", /Refused: .*(a switchover of demo|must not be paused already)/);
    poolers[0]?.end();
    assert.equal((await first.ended()).outcome?.kind, "switched", JSON.stringify(await first.ended()));
    await second.begin();
    assert.equal((await second.ended()).outcome?.kind, "switched", JSON.stringify(await second.ended()));
    assert.deepEqual(JSON.parse(readFileSync(`${second.stateFile}.claims`, "utf8")).promises, []);
  });

  test("of which only one has the other among its peers: the dry run refuses", async (context) => {
    const { edges, poolers } = await startEdges(context, { isMutual: false });
    await edges[0].begin({}, "?dry_run=1");
    assert.match((await edges[0].ended()).text ?? "", /peer core2: must have this rolecall among its peers/);
    assert.ok(poolers.every(({ changes }) => changes.length === 0));
  });
});
