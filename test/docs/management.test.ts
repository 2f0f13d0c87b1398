import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { callRules } from "../../src/core/cluster/management-call.ts";

const text = readFileSync("docs/management.md", "utf8");
const rows = [...text.matchAll(/^\| `([A-Z]+) \/([a-z]+)\S*` \| ([^|]+) \| ([^|]+) \| ([^|]*) \|$/gm)].map(
  ([, method, name, to, codes, refusals]) => ({
    call: `${method} ${name}`,
    to: to?.trim(),
    codes: codes ?? "",
    refusals: refusals ?? "",
  }),
);

test("the table lists every management call and its target", () => {
  const expected = [...callRules].flatMap(([name, { methods, to }]) =>
    methods.map((method) => ({
      call: `${method} ${name}`,
      to: to === "any" ? "the leader, else any live node" : "the selected node",
    })),
  );
  const documented = rows.filter(({ call }) => !call.startsWith("GET ")).map(({ call, to }) => ({ call, to }));
  assert.deepEqual(
    new Set(documented.map((row) => JSON.stringify(row))),
    new Set(expected.map((row) => JSON.stringify(row))),
  );
});

interface Row {
  readonly call: string;
  readonly status: number;
  readonly reason?: string;
}

test("the table lists every status of the tested rows, from the node and from rolecall", () => {
  const proven = JSON.parse(readFileSync("test/spec/gateway/calls.json", "utf8")) as readonly Row[];
  let seen = 0;
  for (const { call, status, reason } of proven) {
    const [method = "", path = ""] = call.split(" ");
    const row = rows.find((known) => known.call === `${method} ${path.replace(/\?.*/, "").split("/").at(-1) ?? ""}`);
    if (row === undefined || call.includes("?")) continue;
    seen += 1;
    assert.match(
      reason === undefined ? row.codes : row.refusals,
      new RegExp(`\\b${status}\\b`),
      `${call} ${status} ${reason ?? "by the node"}`,
    );
    if (reason !== undefined && status !== 400)
      assert.match(row.refusals, new RegExp(`\`${reason}\``), `${call} ${reason}`);
  }
  assert.ok(seen > 40);
});

test("the document lists exactly the refusal codes of the source", () => {
  const sources = [
    "src/features/gateway",
    "src/core/http/forwarding",
    "src/core/workers",
    "src/core/health/calls",
    "src/core/http/access",
  ].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(join(folder, file), "utf8")),
  );
  const words = sources.flatMap((source) =>
    [
      ...source.matchAll(
        /(?:error: |refused\(|errorReply\(4\d\d, |\? )"([a-z]+_[a-z_]+|busy|timeout|unauthorized|nofailover)"/g,
      ),
    ].map(([, code]) => code ?? ""),
  );
  assert.ok(new Set(words).size >= 15, [...new Set(words)].join());
  // `file_descriptors` is a limit of connections: docs/checks.md has it.
  for (const code of new Set(words))
    if (code !== "length_required" && code !== "file_descriptors")
      assert.ok(text.includes(`\`${code}\``), `${code} is not documented`);
});
