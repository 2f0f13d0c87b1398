/** A drain of the last node that is fit for something asks, and says which clients lose their server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runJson } from "../../fake/command-line.ts";

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
