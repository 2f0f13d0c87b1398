import { CommandError } from "../framework/command-error.ts";

/** A reason not to begin the rehearsal (RC140). @param action what to do, if that is known */
export function rehearsalRefusal(message: string, action: string | null = null): CommandError {
  return new CommandError("RC140", `Cannot rehearse: ${message}`, action);
}
