/** The manifests of deploy/kubernetes, validated strictly against the schemas of three versions of Kubernetes. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readObjects } from "../fake/deployed-objects.ts";
import { kubernetesVersions, noKubernetesSchemas, validatedManifests } from "./lab/kubernetes-schemas.ts";

const skip = noKubernetesSchemas === null ? false : `not run: ${noKubernetesSchemas}`;
const folder = mkdtempSync(join(tmpdir(), "rolecall-kubernetes-"));
after(() => rmSync(folder, { recursive: true }));

const manifests = readFileSync("deploy/kubernetes/rolecall.yaml", "utf8");
/** The manifests as they are, and with what their comments say of databases in other places. */
const forms = [
  manifests,
  manifests.replace(/# (namespaceSelector: .*)NAMESPACE/, "$1databases"),
  manifests.replace(/# (- \{ apiGroups: .*configmaps)/, "$1"),
  manifests.replace(/^ {2}egress:\n[^]*?(?=^---)/m, "  egress:\n    - {}\n"),
];

for (const version of kubernetesVersions)
  test(`Kubernetes ${version} accepts the manifests`, { skip, timeout: 60_000 }, () => {
    assert.equal(new Set(forms).size, forms.length);
    for (const [number, text] of forms.entries()) {
      const file = join(folder, `manifests-${number}.yaml`);
      writeFileSync(file, text);
      const { status, output } = validate(version, file);
      assert.equal(status, 0, output);
      assert.equal(output.match(/ passed for resource /g)?.length, readObjects(text).length, output);
    }
  });

test("the validation is strict: a misspelt field is refused", { skip, timeout: 60_000 }, () => {
  const file = join(folder, "misspelt.yaml");
  writeFileSync(file, manifests.replace("publishNotReadyAddresses", "publishNotReadyAdresses"));
  assert.notEqual(validate("1.34", file).status, 0);
});

function validate(version: string, file: string): { readonly status: number | null; readonly output: string } {
  const validated = validatedManifests(version, file);
  return "notRun" in validated ? { status: null, output: validated.notRun } : validated;
}
