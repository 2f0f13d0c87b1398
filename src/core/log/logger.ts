import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { pino, type Logger } from "pino";
import type { LogConfig } from "../config/model/config.ts";
import { LogSink } from "./log-sink.ts";

export type { Logger } from "pino";

const sinks = new WeakMap<Logger, LogSink>();

/**
 * Opens the log on stderr: one JSON object a line, or lines for people on a terminal. Lines are written at once by this
 * thread, as the last ones before the end matter most. A reader that has stopped costs lines, never time.
 */
export async function openLog(
  { level, format }: LogConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Logger> {
  const isTerminal = isatty(2);
  const isPretty = format === "pretty" || (format === "auto" && isTerminal);
  const isColoured = isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const toText = isPretty ? (await import("./pretty-lines.ts")).prettyLines(isColoured) : undefined;
  const fd = nonBlockingStderr();
  const sink = new LogSink((bytes) => writeSync(fd, bytes), toText);
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (name: string) => ({ level: name }) },
  };
  const log = pino(options, sink);
  process.once("exit", () => sink.flushSync());
  sinks.set(log, sink);
  return log;
}

/** How many lines of a log were lost because its reader had stopped, or was gone. */
export function lostLinesOf(log: Logger): number {
  return sinks.get(log)?.lost ?? 0;
}

/**
 * Makes sure that writing to stderr never blocks. Pipes and terminals are opened a second time, because the mode of an
 * open file belongs to every process that shares it. Where that is impossible, and for sockets, Node's own stream sets
 * the mode.
 */
function nonBlockingStderr(): number {
  const stat = fstatSync(2);
  if (stat.isFIFO() || isatty(2)) {
    try {
      return openSync("/dev/fd/2", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // No such file system, or a pipe of another user.
    }
  }
  if (stat.isFIFO() || stat.isSocket()) void process.stderr;
  return 2;
}
