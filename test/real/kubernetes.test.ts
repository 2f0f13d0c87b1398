/** Rendered Kubernetes manifests, validated strictly against the schemas of three versions of Kubernetes. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { adminApiAnswers } from "../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../fake/canned-server.ts";
import { runText } from "../fake/command-line.ts";
import { kubernetesVersions, noKubernetesSchemas, validatedManifests } from "./lab/kubernetes-schemas.ts";

const skip = noKubernetesSchemas === null ? false : `not run: ${noKubernetesSchemas}`;
const folder = mkdtempSync(join(tmpdir(), "rolecall-kubernetes-"));
let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const forms: readonly (readonly string[])[] = [
  ["--cluster", "demo"],
  ["--cluster", "demo", "--external-databases"],
  ["--namespace", "edge", "--database-namespace", "databases", "--database-selector", "app=db,cluster-name=demo"],
];

for (const version of kubernetesVersions)
  test(`Kubernetes ${version} accepts the rendered manifests`, { skip, timeout: 60_000 }, async () => {
    for (const [number, args] of forms.entries()) {
      const { code, out, err } = await runText(["render", "kubernetes", ...args, "--server", server.url]);
      assert.equal(code, 0, err);
      const file = join(folder, `manifests-${number}.yaml`);
      writeFileSync(file, out);
      const { status, output } = validate(version, file);
      assert.equal(status, 0, output);
      assert.equal(output.match(/ passed for resource /g)?.length, out.split("\n---\n").length, output);
    }
  });

test("the validation is strict: a misspelt field is refused", { skip, timeout: 60_000 }, () => {
  const file = join(folder, "misspelt.yaml");
  const text = readFileSync("deploy/kubernetes/rolecall.yaml", "utf8");
  writeFileSync(file, text.replace("publishNotReadyAddresses", "publishNotReadyAdresses"));
  assert.notEqual(validate("1.34", file).status, 0);
});

function validate(version: string, file: string): { readonly status: number | null; readonly output: string } {
  const validated = validatedManifests(version, file);
  return "notRun" in validated ? { status: null, output: validated.notRun } : validated;
}
