import { CommandError } from "../framework/command-error.js";
/** A reason not to begin the rehearsal (RC140). @param action what to do, if that is known */
export function rehearsalRefusal(message, action = null) {
    return new CommandError("RC140", `Cannot rehearse: ${message}`, action);
}
//# sourceMappingURL=rehearsal-refusal.js.map