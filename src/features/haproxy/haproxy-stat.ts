import type { DatabaseAddress } from "../../core/cluster/node.ts";
import { parseHostPort } from "../../core/config/values/address.ts";
import type { PoolReading, ServerReading, ServerUse } from "../../core/balancing/audited/reading.ts";

/** The command whose answer {@link parseHaproxyStat} reads: the servers of a backend, and the backend itself. */
export function statCommand(backend: string): string {
  return `show stat ${backend} 6 -1`;
}

/** The columns that are read. */
const wanted = [
  ...(["pxname", "svname", "scur", "stot", "status", "weight", "bck", "type", "throttle", "lastsess"] as const),
  ...(["slim", "lastchg", "check_rise", "check_fall", "addr", "algo"] as const),
  ...(["bout", "econ", "wretr", "wredis"] as const),
];
type Column = (typeof wanted)[number];

/** The command whose answer {@link parseBackendIds} reads: all backends, without their servers. */
export const backendsCommand = "show stat -1 2 -1";

/** Reads the identifier of each backend, by which {@link statCommand} finds it whatever else has its name. */
export function parseBackendIds(answer: string): ReadonlyMap<string, string> {
  const [names, ...lines] = linesOf(answer);
  const columns = [names.indexOf("pxname"), names.indexOf("iid")];
  return new Map(
    lines.flatMap((line) => {
      const [name = "", id = ""] = cellsOf(line, columns);
      return /^\d{1,9}$/.test(id) ? [[name, id]] : [];
    }),
  );
}

/** The names of the columns, and the rows. @throws Error if it is no answer of HAProxy */
function linesOf(answer: string): readonly [names: readonly string[], ...lines: readonly string[]] {
  const [head = "", ...lines] = answer.split("\n");
  if (!head.startsWith("# pxname,svname,")) throw new Error(`unexpected answer to show stat: ${shown(answer)}`);
  return [head.slice(2).split(","), ...lines];
}

/** The types of rows of `show stat`. */
const types = { backend: "1", server: "2" } as const;
/** The algorithms that give every server some of the new sessions, by weight. */
const sharing: ReadonlySet<string> = new Set(["roundrobin", "static-rr", "leastconn", "random"]);
/** Where HAProxy has no other number: `fall` and `rise` without being set. */
const countDefault = { check_fall: 3, check_rise: 2 } as const;

/** What the answer does not say. */
export interface StatSettings {
  /** Between two checks of a server, in ms. */
  readonly interMs: number;
  /** How long a push may take, in ms: HAProxy's checks correct it after that. */
  readonly pushMs: number;
}

/**
 * Reads the answer to {@link statCommand}. Columns are found by their names; columns of later versions are ignored.
 * @returns `null` if it is not about the backend: a frontend may have the same name
 * @throws Error if it is no answer of HAProxy
 */
export function parseHaproxyStat(backend: string, answer: string, settings: StatSettings): PoolReading | null {
  if (/^No such proxy/i.test(answer)) return missingBackend(backend);
  const [names, ...lines] = linesOf(answer);
  const columns = wanted.map((name) => names.indexOf(name)).toSorted((one, other) => one - other);
  const slots = new Map(columns.map((column, slot) => [names[column] ?? "", slot]));
  const servers: ServerReading[] = [];
  let isShared = false;
  let isBackend = false;
  for (const line of lines) {
    if (line === "") continue;
    const cells = cellsOf(line, columns);
    const cell = (name: Column): string => cells[slots.get(name) ?? -1] ?? "";
    if (cell("pxname") !== backend) continue;
    if (cell("type") === types.backend) {
      isBackend = true;
      isShared = sharing.has(cell("algo").split(" ")[0] ?? "");
    }
    if (cell("type") === types.server) servers.push(serverOf(cell, settings));
  }
  return isBackend ? { ...missingBackend(backend), servers, isShared } : null;
}

/** A backend that HAProxy does not have. */
export function missingBackend(backend: string): PoolReading {
  return { backend, servers: null, isShared: false, leadsTo: null, closed: null, notTaken: null };
}

function serverOf(cell: (name: Column) => string, { interMs, pushMs }: StatSettings): ServerReading {
  const number = (name: Column): number => countOf(cell(name), name);
  const weight = number("weight");
  const count = Math.max(
    number("check_fall") || countDefault.check_fall,
    number("check_rise") || countDefault.check_rise,
  );
  const lastSession = Number(cell("lastsess") || "-1");
  const isWarming = cell("throttle") !== "";
  const sessions = number("scur");
  const sessionsMax = number("slim");
  const isFull = sessionsMax > 0 && sessions >= sessionsMax;
  const status = cell("status");
  // HAProxy counts each attempt to connect as a session of the server, also those that fail and are tried again.
  const failed = number("econ") + number("wretr") + number("wredis");
  return {
    server: nameOf(cell("svname")),
    address: addressOf(cell("addr")),
    use: isWarming || isFull || weight === 0 ? "held" : useOf(status, cell("bck") === "1"),
    sessions,
    total: Math.max(0, number("stot") - failed),
    endedBytes: number("bout"),
    failed,
    closed: closedBy(status, weight),
    isChecked: status !== "no check",
    // It is stated in whole seconds.
    newestAgoMs: lastSession >= 0 ? (lastSession + 1) * 1_000 : null,
    unchangedMs: cell("lastchg") === "" ? null : number("lastchg") * 1_000,
    weight,
    delayMs: count * interMs + pushMs,
  };
}

function useOf(status: string, isSpare: boolean): ServerUse {
  if (/^(DOWN|NOLB)/.test(status)) return "down";
  if (!/^(UP|no check)/.test(status)) return "held";
  return isSpare ? "spare" : "takes";
}

/** Why a server gets nothing at all: its checks, an operator, or the weight 0, which is as good as draining. */
function closedBy(status: string, weight: number): string | null {
  const [word] = /^(DOWN|NOLB|MAINT|DRAIN)/.exec(status) ?? [];
  if (word !== undefined) return word;
  return weight === 0 ? "weight 0" : null;
}

/** An address as HAProxy shows it to an operator: `10.0.0.1:5432`, `[::1]:5432`; otherwise it is not shown. */
function addressOf(text: string): DatabaseAddress | null {
  return parseHostPort(text) ?? null;
}

/**
 * The cells of a line in some columns, in order. A line has up to 180, of which few are read: the others cost nothing.
 * Texts with commas are in quotes, where a quote is doubled.
 */
function cellsOf(line: string, columns: readonly number[]): readonly string[] {
  if (line.includes('"')) {
    const all = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)];
    return columns.map((column) => {
      const [, quoted, plain] = all[column] ?? [];
      return quoted?.replaceAll('""', '"') ?? plain ?? "";
    });
  }
  let at = 0;
  let next = 0;
  return columns.map((column) => {
    // A column that HAProxy does not have.
    if (column < 0) return "";
    for (; at < column && next >= 0; at += 1) {
      const comma = line.indexOf(",", next);
      next = comma < 0 ? -1 : comma + 1;
    }
    if (next < 0) return "";
    const end = line.indexOf(",", next);
    return line.slice(next, end < 0 ? undefined : end);
  });
}

/** Advice names servers in commands for a shell, and HAProxy takes no other characters. */
function nameOf(text: string): string {
  if (!/^[\w.:-]{1,256}$/.test(text)) throw new Error(`svname of show stat must be a name, got ${shown(text)}`);
  return text;
}

function countOf(text: string, column: string): number {
  if (!/^\d{0,15}$/.test(text)) throw new Error(`${column} of show stat must be a number, got ${shown(text)}`);
  return Number(text);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

/** The time between two checks that the words of a server state, in ms; HAProxy's default if they state none. */
export function interOf(words: string | null): number {
  const match = /(?:^| )inter (\d{1,9})(us|ms|s|m)?(?: |$)/.exec(words ?? "");
  if (match === null) return interDefaultMs;
  const [, digits = "", unit = "ms"] = match;
  return Number(digits) * ({ us: 0.001, ms: 1, s: 1_000, m: 60_000 }[unit] ?? 1);
}

const interDefaultMs = 2_000;
