/**
 * Not known is never "none" (rule 16), in rendered files: what test/core/balancing/silent-projections.test.ts is for what is
 * pushed and asked for.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runText } from "../../fake/command-line.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const folder = temporaryFolder("unknown-members");
const config = join(folder, "rolecall.yaml");

/** Nothing listens on such low ports. */
const silent = (name: string) => ({ name, api: `http://127.0.0.1:${name.slice(-1)}`, database: `${name}.db.lab:5432` });
const fixed = { name: "demo", nodes: [silent("pg1"), silent("pg2")] };
const unknown = { name: "aside", discover: ["http://127.0.0.1:4"] };

/** Every file that depends on the members, and whether it names them outside its comments. */
const kinds: readonly (readonly [kind: readonly string[], namesMembers: boolean])[] = [
  [["haproxy"], true],
  [["envoy"], true],
  [["prometheus", "--node-metrics", "nodes"], true],
  [["patroni"], false],
];

/** The clusters, the options, and the members that a file names; `null`: it is refused. */
const states: readonly (readonly [state: string, clusters: readonly object[], members: readonly string[] | null])[] = [
  ["starting: no member was ever known", [unknown], null],
  ["one of two clusters is not known", [fixed, unknown], null],
  ["blind: nobody answers", [fixed], ["pg1", "pg2"]],
  [
    "a node was added and is not probed yet",
    [{ ...fixed, nodes: [...fixed.nodes, silent("pg3")] }],
    ["pg1", "pg2", "pg3"],
  ],
  ["a node was removed by a reload: that is none", [{ ...fixed, nodes: [silent("pg1")] }], ["pg1"]],
];

describe("rendered files", () => {
  for (const [kind, namesMembers] of kinds)
    for (const [state, clusters, members] of states)
      test(`${kind.join(" ")}: ${state}`, async () => {
        const listen = [{ port: 8008 }, { port: 9108, dialect: "admin", hint_tokens: [] }];
        writeFileSync(config, JSON.stringify({ clusters, listen, log: { level: "silent" } }));
        const { code, out, err } = await runText(["render", ...kind, "--config", config]);
        if (members === null) {
          assert.deepEqual([code, out], [2, ""], err);
          assert.match(err, /error RC112 {2}Cannot render: no (member is known of|node of) aside/);
          return;
        }
        assert.equal(code, 0, err);
        if (!namesMembers) return;
        const named = ["pg1", "pg2", "pg3"].filter((name) => out.split("\n").some((line) => isNamedIn(line, name)));
        assert.deepEqual(named, members, out);
      });

  test("what does not name members does not need them", async () => {
    writeFileSync(config, JSON.stringify({ clusters: [unknown], pools: [{ name: "w", check: "/primary" }] }));
    for (const kind of [
      ["prometheus"],
      ["prometheus", "--node-metrics", "rolecall"],
      ["envoy", "--xds"],
      ["alerts"],
      ["dashboard"],
    ]) {
      const { code, err } = await runText(["render", ...kind, "--config", config]);
      assert.equal(code, 0, `${kind.join(" ")}: ${err}`);
      assert.doesNotMatch(err, /all answer/);
    }
  });
});

function isNamedIn(line: string, name: string): boolean {
  return !line.trimStart().startsWith("#") && new RegExp(`\\b${name}\\b`).test(line);
}
