/** The schemas of several versions of Kubernetes, by kubernetes-validate of the Python package index. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pythonPrograms } from "./python-packages.ts";

/** The versions that manifests are validated for. */
export const kubernetesVersions = ["1.26", "1.30", "1.34"] as const;

const validator = "1.37.0";
const found = pythonPrograms(`kubernetes-validate-${validator}`, [`kubernetes-validate==${validator}`]);

/** Why manifests cannot be validated here; `null` if they can. */
export const noKubernetesSchemas: string | null = "notRun" in found ? found.notRun : null;

/**
 * Validates a file of manifests strictly: a field that the schema does not have is an error.
 * @param version the version of Kubernetes, such as 1.34
 * @returns how the validation ended, or why it was not run
 */
export function validatedManifests(
  version: string,
  file: string,
): { readonly status: number | null; readonly output: string } | { readonly notRun: string } {
  if ("notRun" in found) return found;
  const { status, stdout, stderr } = spawnSync(
    join(found.bin, "kubernetes-validate"),
    ["-k", version, "--strict", file],
    { encoding: "utf8", timeout: 30_000 },
  );
  return { status, output: `${stdout}${stderr}` };
}
