/** Rendered Kubernetes manifests, validated strictly against the schemas of three versions of Kubernetes. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { adminApiAnswers } from "../fake/admin-api-answers.js";
import { serveCannedAnswers } from "../fake/canned-server.js";
import { runText } from "../fake/command-line.js";
import { pythonPrograms } from "./lab/python-packages.js";
const validator = "1.37.0";
const found = pythonPrograms(`kubernetes-validate-${validator}`, [`kubernetes-validate==${validator}`]);
const skip = "notRun" in found ? `not run: ${found.notRun}` : false;
const folder = mkdtempSync(join(tmpdir(), "rolecall-kubernetes-"));
let server;
before(async () => {
    server = await serveCannedAnswers(adminApiAnswers);
});
after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
});
const forms = [
    ["--cluster", "demo"],
    ["--cluster", "demo", "--external-databases"],
    ["--namespace", "edge", "--database-namespace", "databases", "--database-selector", "app=db,cluster-name=demo"],
];
for (const version of ["1.26", "1.30", "1.34"])
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
function validate(version, file) {
    if ("notRun" in found)
        return { status: null, output: found.notRun };
    const program = join(found.bin, "kubernetes-validate");
    const { status, stdout, stderr } = spawnSync(program, ["-k", version, "--strict", file], {
        encoding: "utf8",
        timeout: 30_000,
    });
    return { status, output: `${stdout}${stderr}` };
}
//# sourceMappingURL=kubernetes.test.js.map