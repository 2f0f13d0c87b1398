import { CommandError } from "../framework/command-error.ts";
import { withDeadline } from "../client/deadline.ts";
import type { Io } from "../output/io.ts";
import { fetchStatus, type ClusterStatus } from "../client/cluster-status.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { safe } from "../output/style.ts";
import { renderStatus } from "./status-table.ts";

/** The number of lags in the sparkline of a node. */
const historyMax = 30;
/** The keys that end the command: q, Ctrl-C, Ctrl-D. */
const endKeys = ["q", "Q", "\u0003", "\u0004"];
const hideCursor = "\u001b[?25l\u001b[?1049h";
const showCursor = "\u001b[?1049l\u001b[?25h";

/**
 * `rolecall status --watch`: refreshes a terminal until `q` or Ctrl-C, which both exit with 0. Shows an error if the
 * server does not answer, and retries.
 */
export async function watch(context: CommandContext): Promise<void> {
  const { args, io, result, signal } = context;
  if (context.format === "json")
    throw new CommandError("RC001", "--watch cannot be used with --format json, which writes one document");
  if (!io.stdout.isTerminal) throw new CommandError("RC001", "Cannot run --watch: stdout must be a terminal");
  const intervalMs = args.duration("interval", "1s");
  const keys = listenForKeys(io);
  const lags = new Map<string, (number | null)[]>();
  const restore = (): void => void io.stdout.write(showCursor);
  signal.addEventListener("abort", restore, { once: true });
  await io.stdout.write(hideCursor);
  try {
    let last: ClusterStatus | null = null;
    while (!keys.ended.aborted && !signal.aborted) {
      const current = await tryFetchStatus(context);
      if ("clusters" in current) addLags(lags, (last = current));
      await io.stdout.write(
        renderScreen(context, { last, problem: "clusters" in current ? null : current.problem, lags }),
      );
      await pause(intervalMs, [keys.ended, signal]);
    }
    result.cover("overview", last === null ? "incomplete" : "complete", {
      detail: last === null ? "no status was received" : last.by,
    });
  } finally {
    keys.close();
    signal.removeEventListener("abort", restore);
    await io.stdout.write(showCursor);
  }
}

async function tryFetchStatus(context: CommandContext): Promise<ClusterStatus | { readonly problem: string }> {
  try {
    return await fetchStatus(context);
  } catch (error) {
    if (error instanceof CommandError && error.rule !== "RC001") return { problem: error.message };
    throw error;
  }
}

interface Screen {
  readonly last: ClusterStatus | null;
  readonly problem: string | null;
  readonly lags: ReadonlyMap<string, readonly (number | null)[]>;
}

/**
 * Renders one screen over the previous one. Lines that do not fit are left out, so that the terminal does not scroll.
 */
function renderScreen({ io, style }: CommandContext, { last, problem, lags }: Screen): string {
  const body = last === null ? "" : renderStatus(last, style, (cluster, node) => lags.get(`${cluster}/${node}`) ?? []);
  const head = `rolecall status  ${new Date().toISOString().slice(0, 19)}Z  ${last?.by ?? ""}  q to quit`;
  const lines = [
    style.dim(head),
    ...(problem === null ? [] : [style.red(safe(problem))]),
    "",
    ...body.split("\n"),
  ].slice(0, io.stdout.rows() - 1);
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}

function addLags(lags: Map<string, (number | null)[]>, { clusters }: ClusterStatus): void {
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

/** Reads keys in raw mode, where the terminal passes each key on at once and Ctrl-C is an ordinary key. */
function listenForKeys({ stdin }: Io): Keys {
  const ended = new AbortController();
  const onKey = (data: Buffer | string): void => {
    if (endKeys.some((key) => String(data).includes(key))) ended.abort();
  };
  const setRawMode =
    "setRawMode" in stdin && typeof stdin.setRawMode === "function" && stdin.isTTY === true
      ? stdin.setRawMode.bind(stdin)
      : null;
  if (setRawMode === null) return { ended: ended.signal, close: () => {} };
  setRawMode(true);
  stdin.on("data", onKey);
  stdin.resume();
  const close = (): void => {
    stdin.off("data", onKey);
    setRawMode(false);
    stdin.pause();
  };
  return { ended: ended.signal, close };
}

/** Waits for `ms` milliseconds, or until one of the signals is aborted. */
function pause(ms: number, until: readonly AbortSignal[]): Promise<void> {
  return withDeadline(
    ms,
    until,
    (deadline) =>
      new Promise((resolve) => {
        if (deadline.aborted) resolve();
        else deadline.addEventListener("abort", () => resolve(), { once: true });
      }),
  );
}
