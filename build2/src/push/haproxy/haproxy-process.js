import { RuntimeApiError } from "./runtime-session.js";
/** The commands whose answers `parseProcess` reads. */
export const processCommands = ["show cli level", "show info"];
/**
 * Reads the answers to `processCommands`.
 * @throws RuntimeApiError if they are not those of HAProxy
 */
export function parseProcess([level = "", info = ""]) {
    const field = (name) => new RegExp(`^${name}: *(.*)$`, "m").exec(info)?.[1];
    const pid = field("Pid");
    if (pid === undefined || !/^\w{1,20}$/.test(level))
        throw new RuntimeApiError("the answers are not those of HAProxy's Runtime API");
    return {
        id: `${pid} ${field("Start_time_sec") ?? ""}`,
        version: field("Version") ?? "unknown",
        level,
        isStopping: field("Stopping") === "1",
    };
}
//# sourceMappingURL=haproxy-process.js.map