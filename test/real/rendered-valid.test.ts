/** Each load balancer's own verdict on every configuration of test/spec/cli/rendered.yaml. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { CertificateAuthority } from "../fake/certificates.ts";
import { renderClusters, renderedSpec } from "../fake/rendered-rows.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

const folder = temporaryFolder("valid");

before(() => {
  const authority = new CertificateAuthority();
  copyFileSync(authority.ca, join(folder, "ca.pem"));
  authority.remove();
});

for (const { kind, title, found } of balancerPrograms()) {
  const skip = "notRun" in found ? `not run: ${found.notRun}` : false;
  test(
    `${title} accepts every rendered configuration without a warning, but of names that do not resolve`,
    { skip, timeout: 60_000 },
    async () => {
      if ("notRun" in found) return;
      for (const { title: row, clusters, args } of renderedSpec.accepted) {
        const { out } = await renderClusters(folder, { kind, clusters, args });
        const { status, output } = validate({ kind, path: found.path }, out);
        assert.equal(status, 0, `${row}: ${output}`);
        const complaints = output.split("\n").filter((line) => complaint.test(line) && !unresolved.test(line));
        assert.deepEqual(complaints, [], row);
      }
    },
  );
}

/** A line of a program that finds fault with its configuration. */
const complaint = /\[(WARNING|ALERT|warning|error|critical)\]/;
/** HAProxy starts with a server whose name does not resolve, and says so. */
const unresolved = /could not resolve address '[^']+', disabling server/;

interface Verdict {
  readonly status: number | null;
  readonly output: string;
}

/** Has a load balancer validate a configuration, without starting it. */
function validate(program: { readonly kind: "haproxy" | "envoy"; readonly path: string }, text: string): Verdict {
  const file = join(folder, program.kind === "haproxy" ? "haproxy.cfg" : "envoy.yaml");
  writeFileSync(file, text);
  const args =
    program.kind === "haproxy" ? ["-c", "-f", file] : ["--mode", "validate", "-c", file, "--log-level", "warn"];
  const { status, stdout, stderr } = spawnSync(program.path, args, { encoding: "utf8", timeout: 20_000 });
  return { status, output: `${stdout}${stderr}` };
}
