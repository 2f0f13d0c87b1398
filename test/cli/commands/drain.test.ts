/** A drain of the last node that is fit for something asks, and says which clients lose their server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runJson, runText } from "../../fake/command-line.ts";

const begun = { body: { until: "2026-01-31T12:30:00.000Z", durable: true } };
const times = ["--for", "30m", "--reason", "kernel upgrade"];

/** What happens where pg3 is fit for `verdicts`, and pools are not served. */
async function drained(argv: readonly string[], verdicts: object = {}): Promise<readonly [string, number]> {
  const status = structuredClone(adminApiAnswers["/status"]?.body) as {
    clusters: { nodes: { node: string; verdicts: object }[] }[];
  };
  const pg3 = status.clusters[0]?.nodes.find(({ node }) => node === "pg3");
  assert.ok(pg3 !== undefined);
  pg3.verdicts = { ...pg3.verdicts, ...verdicts };
  const drain = { "POST /drains/demo/pg1": begun, "POST /drains/demo/pg2": begun };
  const server = await serveCannedAnswers({ "/status": { body: status }, ...drain });
  const { diagnostics } = await runJson([...argv, ...times, "--server", server.url]);
  await server.close();
  const begins = server.received.filter(({ method }) => method === "POST").length;
  const [first] = diagnostics.filter(({ rule_id: id }) => id === "RC008");
  return [first?.message.replace(/: cannot ask.*/, "") ?? "", begins];
}

const lose = "clients that are sent by these checks lose their server";

for (const [what, argv, verdicts, expected] of [
  [
    "the last replica",
    ["drain", "pg2"],
    {},
    `pg2 is the only node of demo that is fit for /replica and /async: ${lose}`,
  ],
  ["a replica beside another one", ["drain", "pg2"], { replica: "fit", async: "fit" }, ""],
  ["the primary as a replica", ["drain", "pg1"], {}, ""],
  ["the primary", ["drain", "pg1", "--all"], {}, `pg1 is the only node of demo that is fit for /primary: ${lose}`],
  [
    "the last replica",
    ["drain", "pg2", "--distrust"],
    { async: "fit" },
    `pg2 is the only node of demo that is fit for /replica: ${lose}`,
  ],
] as const) {
  test(`${argv.join(" ")}: ${what}`, async () => {
    assert.deepEqual(await drained(argv, verdicts), [expected, expected === "" ? 1 : 0]);
    assert.deepEqual(await drained([...argv, "--yes"], verdicts), ["", 1]);
  });
}

const only = "other rolecalls do not know it, repeat this at each (--server)";

for (const [where, edges, expected] of [
  ["alone", { fleet: null, upstreams: [], followers: [] }, `at URL only: ${only}`],
  ["without fleet or follow", { upstreams: [], followers: [] }, `at URL only: ${only}`],
  ["at a follower", { fleet: null, upstreams: [{ url: "http://10.0.0.5" }], followers: [] }, `at URL only: ${only}`],
  [
    "at one that is followed",
    { fleet: null, upstreams: [], followers: [{ follower: "edge2", clusters: 1 }] },
    `at URL and those that follow it (1 now): ${only.replace("other rolecalls", "others")}`,
  ],
  [
    "in a fleet",
    { fleet: { name: "edges" }, upstreams: [], followers: [] },
    "at URL, and at each member of the fleet that shares demo",
  ],
  [
    "at a listener of one cluster",
    { cluster: "demo" },
    "at URL: other rolecalls know it only if they follow this one or share a fleet with it",
  ],
] as const)
  test(`drain says where it is in force: ${where}`, async (context) => {
    const { body: status } = adminApiAnswers["/status"] ?? {};
    const answer = adminApiAnswers["POST /drains/demo/pg2"];
    assert.ok(answer !== undefined);
    const server = await serveCannedAnswers({
      "/status": { body: status },
      "POST /drains/demo/pg2": answer,
      "/edges": { body: edges },
    });
    context.after(() => server.close());
    const { code, out } = await runText(["drain", "pg2", ...times, "--yes", "--server", server.url]);
    assert.equal(code, 0);
    const [first = "", second, ...rest] = out.split("\n");
    assert.match(first, /^demo\/pg2 is drained as a replica for 30 min, until /);
    const fallback =
      "balancers that fall back to the nodes' own checks know no drain: for maintenance set noloadbalance, too";
    assert.deepEqual([second, ...rest], [expected.replace("URL", server.url), fallback, ""]);
  });

test("drain --list says at which rolecall no node is drained", async (context) => {
  const server = await serveCannedAnswers({ "GET /drains": { body: { drains: [] } } });
  context.after(() => server.close());
  const { out } = await runText(["drain", "--list", "--server", server.url]);
  assert.equal(out, `no node is drained or distrusted at ${server.url}\n`);
});
