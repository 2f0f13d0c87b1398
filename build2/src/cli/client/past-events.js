import { stat } from "node:fs/promises";
import { isObject, listOf } from "../../cluster/values/json.js";
import { eventSeverities } from "../../events/cluster-event.js";
import { isEventWanted } from "../../events/event-filter.js";
import { isHistoryDirectory, readStoredEvents } from "../../history/history-reader.js";
import { CommandError } from "../framework/command-error.js";
import { errorMessage } from "../result/error-message.js";
import { replyMessage, RolecallClient } from "./rolecall-client.js";
/**
 * Fetches events from the running rolecall.
 * @param agoMs how long before the server's present time the events begin, in ms; replaces `sinceMs` of the query
 * @throws CommandError if they cannot be fetched
 */
export async function fetchPastEvents(context, query, agoMs = null) {
    const server = new RolecallClient(context, "admin");
    const { cluster, node, kinds, severity, sinceMs, untilMs, limit } = query;
    const params = new URLSearchParams({ limit: String(limit) });
    const since = agoMs === null ? instantText(sinceMs) : `${Math.ceil(agoMs / 1_000)}s`;
    const given = { cluster, node, severity, since, until: instantText(untilMs) };
    for (const [name, value] of Object.entries(given))
        if (value !== null)
            params.set(name, value);
    if (kinds.length > 0)
        params.set("kind", kinds.join(","));
    const path = `/events?${params.toString()}`;
    const reply = await server.getPage(path);
    if (reply.status === 400)
        throw new CommandError("RC009", `${server.url}: ${replyMessage(reply)}`);
    const document = server.objectOf(path, reply);
    const oldest = Date.parse(String(document["oldest"]));
    return {
        by: server.url,
        oldestMs: Number.isNaN(oldest) ? null : oldest,
        hasMore: document["more"] === true,
        isIncomplete: document["incomplete"] === true,
        events: listOf(document["events"]).filter(isObject).map(readEvent),
    };
}
/**
 * Reads events from the directory of a history, of a rolecall that runs or not. Damaged lines become a warning.
 * @throws CommandError (RC006) if there is no such directory, or if it has no history
 */
export async function readPastEvents({ result }, directory, query) {
    const info = await stat(directory).catch((error) => {
        throw new CommandError("RC006", `Cannot read --directory: ${errorMessage(error)}`);
    });
    if (!info.isDirectory())
        throw new CommandError("RC006", `Cannot read --directory: ${directory} must be the directory of a history`);
    if (!(await isHistoryDirectory(directory)))
        throw new CommandError("RC006", `Cannot read --directory: ${directory} must be the directory of a history, got one without history files`);
    const { sinceMs, untilMs, limit } = query;
    const stored = { sinceMs: sinceMs ?? -Infinity, untilMs: untilMs ?? Infinity, limit: limit + 1 };
    const filter = { ...query, ...stored, kinds: query.kinds.length === 0 ? null : query.kinds };
    const matches = (event) => isEventWanted(event, filter);
    const { events, isComplete } = await readStoredEvents(directory, { ...stored, matches }, (file, lines) => result.diagnose("RC006", { message: `${file}: ${lines} damaged lines left out`, severity: "warning" }));
    return {
        by: directory,
        oldestMs: null,
        hasMore: events.length > limit,
        isIncomplete: !isComplete,
        events: events.slice(-limit).map(({ at, ...event }) => ({ ...event, atMs: at })),
    };
}
function readEvent(row) {
    const text = (key) => (typeof row[key] === "string" ? row[key] : "?");
    return {
        id: text("id"),
        atMs: Date.parse(text("at")),
        kind: text("kind"),
        severity: eventSeverities.find((severity) => severity === row["severity"]) ?? "info",
        cluster: text("cluster"),
        node: typeof row["node"] === "string" ? row["node"] : null,
        message: text("message"),
        cause: typeof row["cause"] === "string" ? row["cause"] : null,
        figures: isObject(row["figures"]) ? row["figures"] : {},
    };
}
function instantText(ms) {
    return ms === null ? null : new Date(ms).toISOString();
}
//# sourceMappingURL=past-events.js.map