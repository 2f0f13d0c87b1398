import type { Severity } from "../../../core/command/result/document.ts";
import { formatLocalTime, localZone } from "../../../core/command/output/local-time.ts";
import { safe, type Style } from "../../../core/command/output/style.ts";

/** An event as it is printed. */
export interface PrintedEvent {
  readonly id: string;
  /** In ms since the epoch. */
  readonly atMs: number;
  readonly kind: string;
  readonly severity: Severity;
  /** `null`: it is about rolecall itself. */
  readonly cluster: string | null;
  readonly node: string | null;
  readonly message: string;
  /** Why, if rolecall knows. */
  readonly cause: string | null;
  /** The figures of the message, by name. */
  readonly figures: Readonly<Record<string, unknown>>;
}

/** Narrower sentences are hard to read: below this, each has lines of its own, in characters. */
const sentenceMin = 30;
/** The indentation of sentences with lines of their own. */
const indentation = "  ";

/** Widths of the columns before the sentence. */
interface Layout {
  readonly cluster: number;
  readonly node: number;
  /** Characters per line. */
  readonly columns: number;
}

/** Chooses the widths for these events. @param columns the width of the terminal, in characters */
export function layoutOf(events: readonly PrintedEvent[], columns: number): Layout {
  return {
    cluster: widest(
      "CLUSTER",
      events.map(({ cluster }) => cluster ?? "-"),
    ),
    node: widest(
      "NODE",
      events.map(({ node }) => node ?? "-"),
    ),
    columns,
  };
}

function widest(head: string, texts: readonly string[]): number {
  return Math.max(head.length, ...texts.map((text) => lengthOf(safe(text))));
}

/** The head of the table, with the zone of its times. */
export function eventTableHead(layout: Layout, nowMs: number, style: Style): string {
  const zone = `TIME (${localZone(nowMs)})`.padEnd(19);
  return `${style.bold(`${row([zone, "SEVERITY", "CLUSTER", "NODE"], layout)}${isWide(layout) ? "  EVENT" : ""}`)}\n`;
}

/** One row for each event. Sentences are wrapped between words, beside the other columns or, if narrow, below them. */
export function eventTableRows(events: readonly PrintedEvent[], layout: Layout, style: Style): string {
  return events.map((event) => rowOf(event, layout, style)).join("");
}

function rowOf({ atMs, severity, cluster, node, message }: PrintedEvent, layout: Layout, style: Style): string {
  const head = row([formatLocalTime(atMs), severity, safe(cluster ?? "-"), safe(node ?? "-")], layout);
  const paint = { error: style.red, warning: style.yellow, info: (text: string) => text }[severity];
  const start = isWide(layout) ? sentenceStart(layout) : indentation.length;
  const [first = "", ...rest] = wrap(safe(message), layout.columns - start).map(paint);
  const indented = rest.map((line) => `${" ".repeat(start)}${line}\n`).join("");
  return isWide(layout) ? `${head}  ${first}\n${indented}` : `${head.trimEnd()}\n${indentation}${first}\n${indented}`;
}

function row([time = "", severity = "", cluster = "", node = ""]: readonly string[], layout: Layout): string {
  return [time, severity.padEnd(8), pad(cluster, layout.cluster), pad(node, layout.node)].join("  ");
}

/** The column in which sentences begin beside the other columns. */
function sentenceStart({ cluster, node }: Layout): number {
  return 19 + 2 + 8 + 2 + cluster + 2 + node + 2;
}

function isWide(layout: Layout): boolean {
  return layout.columns - sentenceStart(layout) >= sentenceMin;
}

/** Breaks a text between words. A word that is longer than a line has a line of its own. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || lengthOf(last) + 1 + lengthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - lengthOf(text)));
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
