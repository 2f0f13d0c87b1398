import { CommandError } from "../framework/command.ts";
import { withDeadline } from "../client/deadline.ts";
import type { Io } from "../output/io.ts";
import { fetchStatus, type ClusterStatus } from "../client/cluster-status.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { safe } from "../output/style.ts";
import { renderStatus } from "./status-table.ts";

/** How many lags of a node the sparkline shows. */
const historyMax = 30;
/** q, Ctrl-C, Ctrl-D. */
const endKeys = ["q", "Q", "\u0003", "\u0004"];
const hideCursor = "\u001b[?25l\u001b[?1049h";
const showCursor = "\u001b[?1049l\u001b[?25h";

/**
 * `rolecall status --watch`: repaints a terminal until `q` or Ctrl-C. Each is the usual end and exit code 0. A server that
 * does not answer is shown, and asked again.
 */
export async function watch(context: CommandContext): Promise<void> {
  const { args, io, result, signal } = context;
  if (context.format === "json")
    throw new CommandError("RC001", "--watch cannot be given with --format json, which is one document");
  if (!io.stdout.isTerminal) throw new CommandError("RC001", "--watch needs a terminal: stdout is none");
  const intervalMs = args.duration("interval", "1s");
  const keys = listenForKeys(io);
  const lags = new Map<string, (number | null)[]>();
  const restore = (): void => void io.stdout.write(showCursor);
  signal.addEventListener("abort", restore, { once: true });
  await io.stdout.write(hideCursor);
  try {
    let last: ClusterStatus | null = null;
    while (!keys.ended.aborted && !signal.aborted) {
      const seen = await look(context);
      if ("clusters" in seen) remember(lags, (last = seen));
      await io.stdout.write(paint(context, { last, problem: "clusters" in seen ? null : seen.problem, lags }));
      await pause(intervalMs, [keys.ended, signal]);
    }
    result.cover("overview", last === null ? "incomplete" : "complete", {
      detail: last === null ? "nothing was ever seen" : last.by,
    });
  } finally {
    keys.close();
    signal.removeEventListener("abort", restore);
    await io.stdout.write(showCursor);
  }
}

async function look(context: CommandContext): Promise<ClusterStatus | { readonly problem: string }> {
  try {
    return await fetchStatus(context);
  } catch (error) {
    if (error instanceof CommandError && error.rule !== "RC001") return { problem: error.message };
    throw error;
  }
}

interface Painting {
  readonly last: ClusterStatus | null;
  readonly problem: string | null;
  readonly lags: ReadonlyMap<string, readonly (number | null)[]>;
}

/** One screenful, written over the one before; what does not fit is left out rather than scrolled. */
function paint({ io, style }: CommandContext, { last, problem, lags }: Painting): string {
  const body = last === null ? "" : renderStatus(last, style, (cluster, node) => lags.get(`${cluster}/${node}`) ?? []);
  const head = `rolecall status  ${new Date().toISOString().slice(0, 19)}Z  ${last?.by ?? ""}  q ends`;
  const lines = [
    style.dim(head),
    ...(problem === null ? [] : [style.red(safe(problem))]),
    "",
    ...body.split("\n"),
  ].slice(0, io.stdout.rows() - 1);
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}

function remember(lags: Map<string, (number | null)[]>, { clusters }: ClusterStatus): void {
  const known = new Set<string>();
  for (const { cluster, nodes } of clusters) {
    for (const { node, lag_bytes: lag } of nodes) {
      const key = `${cluster}/${node}`;
      known.add(key);
      lags.set(key, [...(lags.get(key) ?? []), lag].slice(-historyMax));
    }
  }
  for (const key of lags.keys()) if (!known.has(key)) lags.delete(key);
}

interface Keys {
  /** Aborted by `q` or Ctrl-C. */
  readonly ended: AbortSignal;
  readonly close: () => void;
}

/** A terminal hands its keys over one by one in raw mode; there Ctrl-C is a key like others. */
function listenForKeys({ stdin }: Io): Keys {
  const ended = new AbortController();
  const onKey = (data: Buffer | string): void => {
    if (endKeys.some((key) => String(data).includes(key))) ended.abort();
  };
  const raw =
    "setRawMode" in stdin && typeof stdin.setRawMode === "function" && stdin.isTTY === true
      ? stdin.setRawMode.bind(stdin)
      : null;
  if (raw === null) return { ended: ended.signal, close: () => {} };
  raw(true);
  stdin.on("data", onKey);
  stdin.resume();
  const close = (): void => {
    stdin.off("data", onKey);
    raw(false);
    stdin.pause();
  };
  return { ended: ended.signal, close };
}

/** Waits out the interval, or until one of the signals is aborted. */
function pause(ms: number, until: readonly AbortSignal[]): Promise<void> {
  return withDeadline(
    ms,
    until,
    (over) =>
      new Promise((resolve) => {
        if (over.aborted) resolve();
        else over.addEventListener("abort", () => resolve(), { once: true });
      }),
  );
}
