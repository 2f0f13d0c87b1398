import type { ClusterStatus } from "../../../core/command/client/cluster-status.ts";
import { formatDuration } from "../../../core/command/output/figures.ts";
import { safe, type Style } from "../../../core/command/output/style.ts";
import { shorten, textWidth, wrapWords } from "../../../core/command/output/words.ts";
import { configLine } from "../config-line.ts";
import { reasonsFooter } from "../reasons-footer.ts";
import { selectClusters } from "../selection/selection.ts";
import { clusterCount, summarizeStatus, summaryLine } from "../selection/summary-line.ts";
import type { LagHistory } from "../table/columns.ts";
import { statusTable, type LazyLine } from "../table/table.ts";
import type { ScrollRange, WatchView } from "./view.ts";

/** What is known: the last status, and what failed since. */
export interface WatchedStatus {
  /** `null` until the first response. */
  readonly last: ClusterStatus | null;
  /** The age of `last`, in ms. */
  readonly ageMs: number;
  /** Whether a newer status should have arrived by now. */
  readonly isLate: boolean;
  /** Why the newest request failed; `null` if it was answered. */
  readonly problem: string | null;
  /** The time of day, for people. */
  readonly now: Date;
}

/** The terminal, and how to write on it. */
export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  readonly isWide: boolean;
  readonly style: Style;
  readonly history: LagHistory;
  /** The options that say where the clusters are. */
  readonly source: readonly string[];
}

/** One picture of the terminal. */
export interface Frame {
  /** At most as many lines as the terminal has rows, each shorter than its columns. */
  readonly lines: readonly string[];
  readonly range: ScrollRange;
}

/** The table without the lines around it. */
interface Body {
  readonly summary: string;
  readonly head: string;
  readonly lines: readonly LazyLine[];
}

/** No terminal is narrower: lines are cut there. */
const columnsLeast = 20;

/**
 * Draws the screen of `--watch`. Lays the table out once for each status and selection, and renders only the lines on
 * the screen, so that a key is answered at once whatever the number of clusters.
 */
export class WatchScreen {
  #key: readonly unknown[] = [];
  #body: Body = { summary: "", head: "", lines: [] };

  /** Draws the frame for a view. The offset of the view is limited to the lines that there are. */
  draw(view: WatchView, watched: WatchedStatus, options: ScreenOptions): Frame {
    const width = Math.max(columnsLeast, options.columns - 1);
    const isLost = watched.problem !== null || (watched.isLate && !view.isPaused);
    const body = this.#bodyOf(view, watched.last, { ...options, columns: width });
    const footer = footerLines(view, width);
    const top = [
      ...titleLines(view, watched, width).map((line) => (isLost ? options.style.red(line) : line)),
      ...wrapWords(body.summary, width, 2).map(options.style.bold),
      body.head,
    ].slice(0, Math.max(0, options.rows - footer.length - 1));
    const page = Math.max(1, options.rows - top.length - footer.length);
    const offsetMax = Math.max(0, body.lines.length - page);
    const offset = Math.min(view.offset, offsetMax);
    const shown = body.lines.slice(offset, offset + page).map((line) => line());
    const table = isLost || view.isPaused ? shown.map((line) => options.style.dim(withoutColours(line))) : shown;
    const below = Array.from({ length: page - table.length }, () => "");
    const range = rangeText(offset, shown.length, body.lines.length);
    return {
      lines: [...top, ...table, ...below, ...withRange(footer, range, width).map(options.style.dim)].slice(
        0,
        options.rows,
      ),
      range: { page, offsetMax },
    };
  }

  /** Lays out the table, unless nothing has changed since the last time. */
  #bodyOf(view: WatchView, last: ClusterStatus | null, options: ScreenOptions): Body {
    const key = [last, view.order, view.problemsOnly, view.query, options.columns];
    if (key.every((part, index) => part === this.#key[index])) return this.#body;
    this.#key = key;
    this.#body = last === null ? { summary: "", head: "", lines: [] } : layOut(view, last, options);
    return this.#body;
  }
}

function layOut(view: WatchView, { clusters, config }: ClusterStatus, options: ScreenOptions): Body {
  const shown = selectClusters(clusters, view);
  const refused = configLine(config);
  const summary = safe(
    [...(refused === null ? [] : [`${refused}.`]), summaryLine(summarizeStatus(clusters))].join(" "),
  );
  if (shown.length === 0) {
    const none = view.query === "" ? `No problems in ${clusterCount(clusters.length)}.` : "No cluster or node matches.";
    return { summary, head: "", lines: clusters.length === 0 ? [] : [() => none] };
  }
  const table = statusTable(shown, { ...options, width: options.columns });
  const footer = reasonsFooter(shown, { width: options.columns, style: options.style }, options.source);
  const below = footer.map((line) => () => line);
  return { summary, head: table.head, lines: [...table.lines, ...(below.length === 0 ? [] : [() => "", ...below])] };
}

/** The lines above the table: time and source, and why the table is old. */
function titleLines(view: WatchView, watched: WatchedStatus, width: number): readonly string[] {
  const { last, ageMs, now } = watched;
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const age = last === null ? "no status yet" : `as of ${formatDuration(ageMs)} ago`;
  const problem = watched.problem ?? (watched.isLate ? "No response" : null);
  const state = view.isPaused ? `paused, ${age}` : problem === null ? "" : `${safe(problem)}; ${age}, retrying`;
  return [shorten(`rolecall status  ${time}  ${last?.by ?? ""}`.trimEnd(), width), ...wrapWords(state, width, 2)];
}

function footerLines(view: WatchView, width: number): readonly string[] {
  if (view.isTyping) return wrapWords(`find: ${view.query}_  (Enter keep, Esc clear)`, width);
  const keys = [
    "q quit",
    `s sort: ${view.order}`,
    view.problemsOnly ? "p show all" : "p problems",
    view.query === "" ? "/ find" : `Esc clear "${view.query}"`,
    view.isPaused ? "space go on" : "space pause",
    "arrows PgUp PgDn Home End scroll",
  ];
  const lines = [""];
  for (const key of keys.map((text) => shorten(text, width))) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = key;
    else if (textWidth(line) + 2 + textWidth(key) <= width) lines[lines.length - 1] = `${line}  ${key}`;
    else lines.push(key);
  }
  return lines;
}

function rangeText(offset: number, shown: number, total: number): string {
  return total === 0 ? "" : `${offset + 1}-${offset + shown}/${total}`;
}

/** Adds the range of shown lines at the right end of the last line, if there is room. */
function withRange(footer: readonly string[], range: string, width: number): readonly string[] {
  const last = footer.at(-1) ?? "";
  const gap = width - textWidth(last) - textWidth(range);
  return gap < 2 ? footer : [...footer.slice(0, -1), last + " ".repeat(gap) + range];
}

function withoutColours(line: string): string {
  // oxlint-disable-next-line no-control-regex -- this matches the sequences that a style writes
  return line.replaceAll(/\u001b\[\d+m/g, "");
}
