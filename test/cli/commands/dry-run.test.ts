import assert from "node:assert/strict";
import { test } from "node:test";
import { runJson, runText } from "../../fake/command-line.ts";
import { gatewayFixture } from "../../fake/gateway-fixture.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";

/** Commands that rolecall would pass on to a node, and what they would do. */
const accepted: readonly (readonly [argv: readonly string[], printed: RegExp])[] = [
  [["switchover", "--candidate", "pg2"], /POST \/switchover to demo\/pg1, to switch over from pg1 to pg2 now\./],
  [["switchover", "--candidate", "pg2", "--at", "2099-01-31T03:00:00Z"], /from pg1 to pg2 at 2099-01-31T03:00:00Z\./],
  [["switchover", "--cancel"], /DELETE \/switchover to demo\/pg1, to cancel the scheduled switchover\./],
  [["cluster", "failover", "--candidate", "pg2"], /to make pg2 the leader without the consent of the current one\./],
  [["node", "restart", "pg2"], /POST \/nodes\/pg2\/restart to demo\/pg2, to restart the database of pg2 now\./],
  [["node", "restart", "pg2", "--cancel"], /to cancel the scheduled restart of pg2\./],
  [["node", "reload", "pg2"], /to reload the configuration file of pg2\./],
  [["node", "reinitialize", "pg2"], /to delete all data of pg2 and rebuild it\./],
  [["cluster", "config", "--set", "ttl=40"], /to merge \{"ttl":40\} into the dynamic configuration\./],
];

/** Commands that rolecall would refuse, and why. */
const refused: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
  [
    ["switchover", "--leader", "pg3", "--candidate", "pg2"],
    /would be refused with 412 leader_mismatch: .*the leader is pg1/,
  ],
  [["switchover", "--candidate", "pg1"], /would be refused with 4\d\d/],
  [["cluster", "failover", "--candidate", "pg9"], /would be refused with 4\d\d .*pg9/],
  [["node", "restart", "pg9"], /would be refused with 400 .*pg9/],
  [["node", "reload", "pg9"], /would be refused with 400 .*pg9/],
  [["node", "reinitialize", "pg1"], /would be refused with 503 is_leader: pg1 is the leader/],
];

test("a dry run changes nothing; it says in a sentence what would happen, or fails with the refusal", async () => {
  const fixture = await gatewayFixture({ listener: { wholeCluster: true }, access: { management: true } });
  try {
    const cluster = async (): Promise<string> => (await fixture.request("/cluster")).body;
    const before = await cluster();
    for (const [argv, printed] of accepted) {
      const command = [...argv, "--dry-run", "--server", fixture.url];
      const { code, out, err } = await runText(command);
      assert.equal(code, 0, `${argv.join(" ")}: ${err}`);
      assert.match(out, printed);
      assert.match(out, /^dry run: rolecall would send [^{]/);
      assert.match(out, /Nothing was changed\./);
      const { data, exit_code: exitCode } = await runJson(command);
      assert.deepEqual([exitCode, (data as { answer: { would: string } }).answer.would], [0, "pass"]);
    }
    for (const [argv, message] of refused) {
      const command = [...argv, "--dry-run", "--server", fixture.url];
      const { code, out, err } = await runText(command);
      assert.equal(code, 1, `${argv.join(" ")}: ${out}${err}`);
      assert.match(`${out}${err}`, message);
      assert.doesNotMatch(`${out}${err}`, /"would"|"dry_run"/, "JSON only with --format json");
      assert.equal((await runJson(command)).exit_code, 1);
    }
    assert.equal(await cluster(), before);
  } finally {
    await fixture.close();
  }
});

test("a dry run fails if the server answers something else: it may have executed the call", async () => {
  const server = await serveCannedAnswers({ "POST /nodes/pg1/reload?dry_run=1": { body: "reloaded" } });
  try {
    const { code, err, out } = await runText(["node", "reload", "pg1", "--dry-run", "--server", server.url]);
    assert.equal(code, 2);
    assert.match(`${out}${err}`, /may have executed the call/);
  } finally {
    await server.close();
  }
});
