import type { ServerChange } from "../../core/balancing/server-change.ts";
import { inPushOrder, pushStep, type PushOutcome, type PushStep } from "./push-step.ts";
import type { RuntimeSession } from "./runtime-session.ts";
import { parseServerStates, printed, type ServerState } from "./server-state.ts";

/** The servers of each backend; `null` where there is no such backend. */
export type BackendStates = ReadonlyMap<string, ReadonlyMap<string, ServerState> | null>;

/** What came of one change. */
export interface AppliedChange {
  readonly change: ServerChange;
  readonly outcome: PushOutcome;
  /** Whether sessions of the server were closed. */
  readonly hasCut: boolean;
  /** The answer of HAProxy to a command that it refused; otherwise `null`. */
  readonly answer: string | null;
}

/**
 * Reads the states of the servers of some backends.
 * @throws RuntimeApiError if they cannot be read
 */
export async function readBackends(session: RuntimeSession, backends: readonly string[]): Promise<BackendStates> {
  const answers = await session.run(backends.map((backend) => `show servers state ${backend}`));
  return new Map(backends.map((backend, at) => [backend, parseServerStates(answers[at] ?? "")]));
}

/**
 * Applies changes: first servers leave, then others enter, then sessions are closed, so that a client that connects
 * again finds the new server.
 * @throws RuntimeApiError if an answer is missing; then it is not known which changes were applied
 */
export async function applyChanges(
  session: RuntimeSession,
  changes: readonly ServerChange[],
  states: BackendStates,
): Promise<readonly AppliedChange[]> {
  const steps = inPushOrder(
    changes.map((change) => pushStep(change, states.get(change.backend)?.get(change.server) ?? undefined)),
  );
  const commands = [...steps.flatMap(({ sets }) => sets), ...steps.flatMap(({ cut }) => cut ?? [])];
  const answers = await session.run(commands);
  const answerTo = new Map(commands.map((command, at) => [command, answers[at] ?? ""]));
  return steps.map((step) => appliedStep(step, answerTo));
}

function appliedStep({ change, sets, cut, outcome }: PushStep, answerTo: ReadonlyMap<string, string>): AppliedChange {
  const refusal = [...sets, cut ?? ""].map((command) => answerTo.get(command) ?? "").find((answer) => answer !== "");
  if (refusal !== undefined) return { change, outcome: "refused", hasCut: false, answer: printed(refusal) };
  return { change, outcome, hasCut: cut !== null, answer: null };
}
