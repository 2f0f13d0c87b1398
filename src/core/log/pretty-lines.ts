import prettyPrinter from "pino-pretty";
import { isObject, parseJson, type JsonObject } from "../cluster/values/json.ts";
import { withoutUnsafe } from "../cluster/values/unsafe-text.ts";

const { prettyFactory } = prettyPrinter;

/** Fields that the beginning of the line shows already. */
const shownFields: ReadonlySet<string> = new Set(["level", "time", "msg", "err"]);

/** A text that needs no quotes. */
const plainText = /^[\w.:/@%+#>-]+$/;

/** The fields of an event that its message may lack, in the order in which they are shown. */
const eventFields: readonly string[] = ["cluster", "node", "cause", "by", "omitted", "see"];

/**
 * Returns a function that converts a JSON log line to a line for people: time, level, message, then the other fields as
 * `key=value`. The line of an event has only those that its message lacks, and that of a changed verdict only what
 * changed; the JSON line has all. Names and texts of nodes cannot control the terminal: the characters that could are
 * replaced.
 * @param isColoured whether to use colours
 */
export function prettyLines(isColoured: boolean): (line: string) => string {
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
function textOf(log: JsonObject, messageKey: string): string {
  const { err, [messageKey]: message } = log;
  const fields = fieldsOf(log, typeof message === "string" ? message : "")
    .filter(([key, value]) => !shownFields.has(key) && value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${valueText(value)}`);
  const stack = isObject(err) && typeof err["stack"] === "string" ? err["stack"] : null;
  return [
    [...(typeof message === "string" ? [message] : []), ...fields].join("  "),
    ...(stack === null ? [] : stack.split("\n").map((frame) => `    ${frame.trim()}`)),
  ]
    .map((part) => withoutUnsafe(part))
    .join("\n");
}

type Fields = readonly (readonly [key: string, value: unknown])[];

/** The fields to show in addition to the message. */
function fieldsOf(log: JsonObject, message: string): Fields {
  if (typeof log["event"] === "string")
    return eventFields.map((key) => [key, log[key]] as const).filter(([, value]) => !isIn(message, value));
  const { before, isReachable, ...fields } = log;
  if (!isObject(before) || typeof isReachable !== "boolean") return Object.entries(log);
  return Object.entries(fields).flatMap(([key, value]) => {
    if (!Object.hasOwn(before, key)) return [[key, value] as const];
    return before[key] === value ? [] : [[key, `${shown(before[key])}->${shown(value)}`] as const];
  });
}

/** Whether a message has a value as a word or words of its own. */
function isIn(message: string, value: unknown): boolean {
  if (typeof value !== "string" || value === "") return false;
  return spaced(message).includes(spaced(value));
}

/** The words of a text with one space before and after each. */
function spaced(text: string): string {
  return ` ${text.replaceAll(/[\s:;,()]+/g, " ").trim()} `;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function valueText(value: unknown): string {
  if (typeof value === "string") return plainText.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "";
}
