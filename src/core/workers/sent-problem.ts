import { ListenError } from "../http/listener/listen-error.ts";
import type { SentProblem } from "./messages.ts";

/** Turns the error of a listener into a message for the main process. */
export function sentProblemOf({ listener, cause }: ListenError): SentProblem {
  const { code = null, syscall = null, message } = cause;
  return { listener, code, syscall, message };
}

/** Turns such a message into the error again. */
export function listenErrorOf({ listener, code, syscall, message }: SentProblem): ListenError {
  const cause = { ...(code === null ? {} : { code }), ...(syscall === null ? {} : { syscall }) };
  return new ListenError(listener, Object.assign(new Error(message), cause));
}
