import type { KnownClusters } from "../../core/command/client/remembered-members.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/**
 * Says where the running rolecall keeps its state, and reports if it keeps none, or not alone (RC116). Where none runs,
 * only what the configuration says is known: the environment of the service is not that of this command.
 */
export function checkState(
  { command: { result }, config }: Pick<DoctorContext, "command" | "config">,
  { by, state }: Pick<KnownClusters, "by" | "state">,
): void {
  if (by === null || state === null) {
    const detail =
      config.stateFile === null
        ? "where the system says, if it does: state_file is not set"
        : `${config.stateFile} (state_file)`;
    return result.cover("state", "complete", { detail });
  }
  const { file, from, problem } = state;
  const source = from === null || from === "configuration" ? "state_file" : `$${from}`;
  if (file === null)
    result.diagnose("RC116", {
      message: `the rolecall at ${by} keeps no state: ${problem ?? "no file is known"}`,
      severity: "info",
    });
  else if (problem !== null) result.diagnose("RC116", { message: `${file}: ${problem}` });
  result.cover("state", "complete", {
    detail: file === null ? `none is kept at ${by}` : `${file} (${source}) at ${by}`,
  });
}
