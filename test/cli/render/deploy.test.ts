import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { filesOfChart, renderChart } from "../../fake/rendered-chart.ts";

/** The files of deploy that a command prints, as they are without options. */
const sources: Readonly<Record<string, readonly string[]>> = {
  "grafana/rolecall.json": ["dashboard"],
  "prometheus/rolecall-rules.yml": ["alerts"],
};
/** What each other file of deploy is rendered by. `UPDATE_DOCS=1` writes them. */
const files: Readonly<Record<string, readonly string[]>> = {
  "envoy/envoy.yaml": ["envoy", "--edge", "10.0.0.11:8008,10.0.0.12:8008"],
  "haproxy/haproxy.cfg": ["haproxy", "--edge", "10.0.0.11:8008,10.0.0.12:8008"],
  "kubernetes/monitoring.yaml": ["kubernetes", "--monitoring"],
  "kubernetes/rolecall.yaml": ["kubernetes"],
  "prometheus/prometheus.yml": ["prometheus", "--admin", "10.0.0.11:9108,10.0.0.12:9108"],
};
const units = ["rolecall.service", "rolecall.socket", "rolecall.sysusers.conf", "rolecall.tmpfiles.conf"];
const balanced = ["envoy", "haproxy", "kubernetes", "prometheus"];

const chartFolder = "helm/rolecall";

describe("deploy", () => {
  let server: Awaited<ReturnType<typeof serveCannedAnswers>>;
  let chart: ReadonlyMap<string, string>;

  before(async () => {
    server = await serveCannedAnswers(adminApiAnswers);
    const { folder } = await renderChart(["--cluster", "demo", "--server", server.url]);
    chart = filesOfChart(folder);
    rmSync(folder, { recursive: true });
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
      const isGeneral = !balanced.includes(args[0] ?? "") || args.includes("--monitoring");
      const source = isGeneral ? [] : ["--cluster", "demo", "--server", server.url];
      const { code, out, err } = await runText(["render", ...args, ...source]);
      assert.equal(code, 0, err);
      assertFile(name, out);
    });

  test("rolecall render systemd --directory writes the files of systemd/", async () => {
    const folder = temporaryFolder("units");
    const { code, err } = await runText(["render", "systemd", "--directory", folder]);
    assert.equal(code, 0, err);
    assert.deepEqual(readdirSync(folder).toSorted(), units);
    for (const name of units)
      assert.equal(readFileSync(join(folder, name), "utf8"), readFileSync(join("deploy/systemd", name), "utf8"));
  });

  test("the chart is the output of rolecall render helm --directory", () => {
    for (const [name, text] of chart) assertFile(join(chartFolder, name), text);
  });

  test("has no other files, except its README", () => {
    const found = readdirSync("deploy", { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).replace("deploy/", ""));
    const expected = [
      "README.md",
      ...Object.keys(sources),
      ...Object.keys(files),
      ...units.map((name) => `systemd/${name}`),
    ];
    expected.push(...[...chart.keys()].map((name) => join(chartFolder, name)));
    assert.deepEqual(found.toSorted(), expected.toSorted());
  });
});

function assertFile(name: string, rendered: string): void {
  const file = join("deploy", name);
  if (process.env["UPDATE_DOCS"] === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, rendered);
  }
  assert.equal(existsSync(file) ? readFileSync(file, "utf8") : "", rendered, `${file}: UPDATE_DOCS=1 writes it`);
}
