import { inPushOrder, pushStep } from "./push-step.js";
import { parseServerStates, printed } from "./server-state.js";
/**
 * Reads the states of the servers of some backends.
 * @throws RuntimeApiError if they cannot be read
 */
export async function readBackends(session, backends) {
    const answers = await session.run(backends.map((backend) => `show servers state ${backend}`));
    return new Map(backends.map((backend, at) => [backend, parseServerStates(answers[at] ?? "")]));
}
/**
 * Applies changes: first servers leave, then others enter, then sessions are closed, so that a client that connects
 * again finds the new server.
 * @throws RuntimeApiError if an answer is missing; then it is not known which changes were applied
 */
export async function applyChanges(session, changes, states) {
    const steps = inPushOrder(changes.map((change) => pushStep(change, states.get(change.backend)?.get(change.server) ?? undefined)));
    const commands = [...steps.flatMap(({ sets }) => sets), ...steps.flatMap(({ cut }) => cut ?? [])];
    const answers = await session.run(commands);
    const answerTo = new Map(commands.map((command, at) => [command, answers[at] ?? ""]));
    return steps.map((step) => appliedStep(step, answerTo));
}
function appliedStep({ change, sets, cut, outcome }, answerTo) {
    const refusal = [...sets, cut ?? ""].map((command) => answerTo.get(command) ?? "").find((answer) => answer !== "");
    if (refusal !== undefined)
        return { change, outcome: "refused", hasCut: false, answer: printed(refusal) };
    return { change, outcome, hasCut: cut !== null, answer: null };
}
//# sourceMappingURL=apply-changes.js.map