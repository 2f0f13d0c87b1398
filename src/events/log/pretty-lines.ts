import prettyPrinter from "pino-pretty";
import { isObject, type JsonObject } from "../../cluster/values/json.ts";

const { prettyFactory } = prettyPrinter;

/** Fields that the beginning of the line shows already. */
const shownFields: ReadonlySet<string> = new Set(["level", "time", "msg", "err"]);

/** Control characters, and characters that are invisible or change the direction of text. */
const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text that needs no quotes. */
const plainText = /^[\w.:/@%+-]+$/;

/**
 * Returns a function that converts a JSON log line to a line for people: time, level, message, then the other fields as
 * `key=value`. Names and texts of nodes cannot control the terminal: the characters that could are replaced.
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
    const log = parseSafely(line);
    return log === null ? `${line.trimEnd().replaceAll(unsafeCharacters, "?")}\n` : format(log);
  };
}

/** The message with the other fields. The stack of an error follows on lines of its own. */
function textOf(log: JsonObject, messageKey: string): string {
  const fields = Object.entries(log)
    .filter(([key, value]) => !shownFields.has(key) && value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${valueText(value)}`);
  const { err, [messageKey]: message } = log;
  const stack = isObject(err) && typeof err["stack"] === "string" ? err["stack"] : null;
  return [
    [...(typeof message === "string" ? [message] : []), ...fields].join("  "),
    ...(stack === null ? [] : stack.split("\n").map((frame) => `    ${frame.trim()}`)),
  ].join("\n");
}

function valueText(value: unknown): string {
  if (typeof value === "string") return plainText.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "";
}

/** Parses a line with all unsafe characters replaced, but for the line breaks of an error's stack. */
function parseSafely(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line, (key, inner: unknown) =>
      typeof inner === "string" ? safeText(key, inner) : inner,
    );
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function safeText(key: string, text: string): string {
  if (key !== "stack") return text.replaceAll(unsafeCharacters, "?");
  return text
    .split("\n")
    .map((line) => line.replaceAll(unsafeCharacters, "?"))
    .join("\n");
}
