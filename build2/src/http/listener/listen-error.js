/** The code of an error that a rule about settings is the cause of. */
export const settingsCode = "LISTENER_SETTINGS";
/** A listener could not be opened. */
export class ListenError extends Error {
    code;
    kind;
    listener;
    cause;
    constructor(listener, cause) {
        const { address, port } = listener;
        const kind = kindOf(cause);
        super(`Cannot listen on ${address}:${port}: ${problemOf(kind, cause)}`);
        this.name = "ListenError";
        this.code = cause.code ?? "";
        this.kind = kind;
        this.listener = listener;
        this.cause = cause;
    }
}
/** An error that says why the settings of a listener do not allow it to open. @param problem a sentence */
export function settingsError(problem) {
    return Object.assign(new Error(problem), { code: settingsCode });
}
function kindOf({ syscall, code }) {
    if (code === settingsCode)
        return "settings";
    return syscall !== undefined && syscall !== "open" && syscall !== "read" ? "address" : "files";
}
function problemOf(kind, { code, message }) {
    switch (kind) {
        case "address":
            return `it must be a free port on an address of this machine, got ${code ?? message}`;
        case "files":
            return `its certificate, key and token files must be readable and match, got: ${message}`;
        case "settings":
            return message;
    }
}
//# sourceMappingURL=listen-error.js.map