/** What commands say where there is nothing, and what they must not say twice. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { nodeNotes } from "../../../src/cli/status/table/notes.ts";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runJson, runText } from "../../fake/command-line.ts";
import { statusNode, unfitNode } from "../../fake/status-clusters.ts";

let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers({
    ...adminApiAnswers,
    "/audit": { body: { interval_ms: 0, targets: [], findings: [] } },
    "/fleet": { body: { fleet: null } },
  });
});

after(() => server.close());

/** What each command says where nothing is configured for it, and the step that it covers. */
const nothing: readonly (readonly [command: string, says: RegExp, step: string])[] = [
  [
    "status routes",
    /^nothing to verify: no balancer or pooler is configured \(balancers, poolers, audit\.envoys\), .*\n$/,
    "routes",
  ],
  ["status fleet", /^this rolecall is in no fleet: no fleet is configured \(fleet; docs\/fleet\.md\)\n$/, "fleet"],
];

for (const [command, says, step] of nothing)
  test(`${command} says that nothing is configured for it, which is no error`, async () => {
    const { code, out, err } = await runText([...command.split(" "), "--server", server.url]);
    assert.match(out, says);
    assert.deepEqual([code, err], [0, ""]);
    const {
      exit_code: jsonCode,
      diagnostics,
      coverage,
    } = await runJson([...command.split(" "), "--server", server.url]);
    assert.deepEqual([jsonCode, diagnostics], [0, []]);
    const [covered] = coverage.filter(({ id }) => id === step);
    assert.equal(covered?.status, "not_applicable");
    assert.equal(`${covered?.detail}\n`, out);
  });

describe("explain --node without a check", () => {
  test("explains the check of the node's role", async () => {
    const { code, out } = await runText(["explain", "--node", "pg3", "--server", server.url]);
    const named = await runText(["explain", "/replica", "--node", "pg3", "--server", server.url]);
    assert.deepEqual([code, out], [named.code, named.out]);
    assert.match(out, /^demo\/pg3/);
  });

  test("names the nodes if there is no such one", async () => {
    const { code, err } = await runText(["explain", "--node", "pg99", "--server", server.url]);
    assert.equal(code, 2);
    assert.match(err, /The node must be one of .*, got "pg99"/);
  });
});

test("where nothing is known yet, a name is refused with that, and not with an empty list", async () => {
  const empty = await serveCannedAnswers({ "/status": { body: { clusters: [] } } });
  try {
    for (const argv of [
      ["explain", "--cluster", "x"],
      ["explain", "/replica", "--node", "pg1"],
    ]) {
      const { code, err } = await runText([...argv, "--server", empty.url]);
      assert.equal(code, 2);
      assert.match(err, /must be known, and this rolecall knows none yet, got "(?:x|pg1)"/);
    }
  } finally {
    await empty.close();
  }
});

/** The notes of a node in the table of the status. */
const notes: readonly (readonly [says: string, node: ReturnType<typeof statusNode>])[] = [
  ["noloadbalance", unfitNode("pg3", "noloadbalance", { tags: { noloadbalance: "true" } })],
  ["noloadbalance", statusNode("pg3", { tags: { noloadbalance: "true" } })],
  [
    "noloadbalance; nofailover",
    unfitNode("pg3", "noloadbalance", { tags: { noloadbalance: "true", nofailover: "true" } }),
  ],
];

for (const [says, node] of notes)
  test(`a reason that is a tag is said once: ${says}`, () => assert.equal(nodeNotes(node), says));
