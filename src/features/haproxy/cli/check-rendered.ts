import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KnownClusters } from "../../../core/command/client/remembered-members.ts";
import type { DoctorContext } from "../../../core/command/doctor/doctor-context.ts";
import { defaultRenderOptions } from "../../../core/command/render/options.ts";
import { targetsOf } from "../../../core/command/render/targets.ts";
import { execute } from "../../../core/command/result/evidence.ts";
import { renderHaproxy } from "../render/haproxy-file.ts";

/** How long `haproxy -c` may take, in ms. */
const timeoutMs = 20_000;

/** Renders the HAProxy configuration and validates it with `haproxy -c -f FILE`, whose output becomes evidence. */
export async function checkRenderedHaproxy({ command, config }: DoctorContext, known: KnownClusters): Promise<void> {
  const { args, result, signal } = command;
  const targets = targetsOf(command, config, known);
  if (targets.clusters.every(({ nodes }) => nodes.length === 0)) {
    result.cover("haproxy", "not_applicable", { detail: "no database address is known" });
    return;
  }
  const program = args.text("haproxy") ?? "haproxy";
  const folder = await mkdtemp(join(tmpdir(), "rolecall-doctor-"));
  try {
    const file = join(folder, "haproxy.cfg");
    await writeFile(file, renderHaproxy(targets, defaultRenderOptions, null));
    const evidence = await execute({
      command: program,
      args: ["-c", "-f", file],
      directory: folder,
      timeoutMs,
      signal,
    });
    result.addEvidence(evidence);
    if (evidence.exit_code === -1) {
      result.cover("haproxy", "unsupported", { detail: evidence.stderr.slice(0, 200) });
      return;
    }
    result.cover("haproxy", "complete", {
      detail: `haproxy -c of what render writes: exit code ${evidence.exit_code}`,
    });
    if (evidence.exit_code !== 0)
      result.diagnose("RC108", {
        message: `haproxy -c failed: ${evidence.stderr.trim().slice(0, 1_000)}`,
        location: { file, kind: "output" },
      });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
