import prettyPrinter from "pino-pretty";
import { isObject, parseJson } from "../../cluster/values/json.js";
import { withoutUnsafe } from "../../cluster/values/unsafe-text.js";
const { prettyFactory } = prettyPrinter;
/** Fields that the beginning of the line shows already. */
const shownFields = new Set(["level", "time", "msg", "err"]);
/** A text that needs no quotes. */
const plainText = /^[\w.:/@%+-]+$/;
/**
 * Returns a function that converts a JSON log line to a line for people: time, level, message, then the other fields as
 * `key=value`. Names and texts of nodes cannot control the terminal: the characters that could are replaced.
 * @param isColoured whether to use colours
 */
export function prettyLines(isColoured) {
    const format = prettyFactory({
        colorize: isColoured,
        translateTime: "SYS:yyyy-mm-dd HH:MM:ss.l",
        hideObject: true,
        // Without the brackets around it.
        customPrettifiers: { time: String },
        messageFormat: (log, messageKey) => textOf(log, messageKey),
        // The level alone is coloured.
        customColors: { message: "reset" },
        useOnlyCustomProps: false,
    });
    return (line) => {
        const log = parseJson(line);
        return isObject(log) ? format(log) : `${withoutUnsafe(line.trimEnd())}\n`;
    };
}
/** The message with the other fields. The stack of an error follows on lines of its own. */
function textOf(log, messageKey) {
    const fields = Object.entries(log)
        .filter(([key, value]) => !shownFields.has(key) && value !== null && value !== undefined)
        .map(([key, value]) => `${key}=${valueText(value)}`);
    const { err, [messageKey]: message } = log;
    const stack = isObject(err) && typeof err["stack"] === "string" ? err["stack"] : null;
    return [
        [...(typeof message === "string" ? [message] : []), ...fields].join("  "),
        ...(stack === null ? [] : stack.split("\n").map((frame) => `    ${frame.trim()}`)),
    ]
        .map((part) => withoutUnsafe(part))
        .join("\n");
}
function valueText(value) {
    if (typeof value === "string")
        return plainText.test(value) ? value : JSON.stringify(value);
    return JSON.stringify(value) ?? "";
}
//# sourceMappingURL=pretty-lines.js.map