import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";

/** The files of deploy that a command prints, as they are without options. */
const sources: Readonly<Record<string, readonly string[]>> = {
  "grafana/rolecall.json": ["dashboard"],
  "prometheus/rolecall-rules.yml": ["alerts"],
};
/** What each other file of deploy is rendered by. `UPDATE_DOCS=1` writes them. */
const files: Readonly<Record<string, readonly string[]>> = {
  "envoy/envoy.yaml": ["envoy", "--edge", "10.0.0.11:8008,10.0.0.12:8008"],
  "haproxy/haproxy.cfg": ["haproxy", "--edge", "10.0.0.11:8008,10.0.0.12:8008"],
  "prometheus/prometheus.yml": ["prometheus", "--admin", "10.0.0.11:9108,10.0.0.12:9108"],
};
/** What no command prints: test/deploy tests it. */
const ownFolders = ["helm", "kubernetes", "systemd"];

describe("deploy", () => {
  let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

  before(async () => {
    server = await serveCannedAnswers(adminApiAnswers);
  });
  after(() => server.close());

  for (const [name, args] of Object.entries(sources))
    test(`rolecall render ${args.join(" ")} prints ${name}`, async () => {
      const { code, out, err } = await runText(["render", ...args]);
      assert.equal(code, 0, err);
      assert.equal(out, readFileSync(join("deploy", name), "utf8"));
    });

  for (const [name, args] of Object.entries(files))
    test(`${name} is the output of rolecall render ${args.join(" ")}`, async () => {
      const { code, out, err } = await runText(["render", ...args, "--cluster", "demo", "--server", server.url]);
      assert.equal(code, 0, err);
      assertFile(name, out);
    });

  test("has no other files, except its README and what is written by hand", () => {
    const found = readdirSync("deploy", { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).replace("deploy/", ""))
      .filter((name) => !ownFolders.includes(name.split("/")[0] ?? ""));
    assert.deepEqual(found.toSorted(), ["README.md", ...Object.keys(sources), ...Object.keys(files)].toSorted());
  });
});

function assertFile(name: string, rendered: string): void {
  const file = join("deploy", name);
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, rendered);
  assert.equal(existsSync(file) ? readFileSync(file, "utf8") : "", rendered, `${file}: UPDATE_DOCS=1 writes it`);
}
