import { ListenError } from "../http/listener/listen-error.js";
/** Turns the error of a listener into a message for the main process. */
export function sentProblemOf({ listener, cause }) {
    const { code = null, syscall = null, message } = cause;
    return { listener, code, syscall, message };
}
/** Turns such a message into the error again. */
export function listenErrorOf({ listener, code, syscall, message }) {
    const cause = { ...(code === null ? {} : { code }), ...(syscall === null ? {} : { syscall }) };
    return new ListenError(listener, Object.assign(new Error(message), cause));
}
//# sourceMappingURL=sent-problem.js.map