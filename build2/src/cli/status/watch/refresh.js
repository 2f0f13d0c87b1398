import { fetchStatus } from "../../client/cluster-status.js";
import { withDeadline } from "../../client/deadline.js";
import { CommandError } from "../../framework/command-error.js";
/**
 * Fetches the status. A server that cannot be reached is a problem to show, because the next attempt may succeed.
 * @throws CommandError (RC001) if the command line is wrong, which no further attempt can mend
 */
export async function tryFetchStatus(context) {
    try {
        return await fetchStatus(context);
    }
    catch (error) {
        if (error instanceof CommandError && error.rule !== "RC001")
            return { problem: error.message };
        throw error;
    }
}
/** Waits for `ms` milliseconds, or until one of the signals is aborted. */
export function pause(ms, until) {
    return withDeadline(ms, until, (deadline) => new Promise((resolve) => {
        if (deadline.aborted)
            resolve();
        else
            deadline.addEventListener("abort", () => resolve(), { once: true });
    }));
}
//# sourceMappingURL=refresh.js.map