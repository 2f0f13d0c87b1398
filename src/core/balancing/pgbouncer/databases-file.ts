import type { DatabaseAddress } from "../../cluster/node.ts";

/**
 * The `[databases]` lines of a file that PgBouncer includes. The file is text in which each character is one byte
 * (latin1), so that what is kept is kept byte for byte. Pure, and never throws.
 *
 * The grammar is that of PgBouncer 1.18 to 1.24 (lib/usual/cfparser.c, src/loader.c): `key = value` with the value up to
 * the end of the line; comments only at the start of a line, with `;` or `#`; pairs with spaces between them. A
 * value with a space is enclosed in single quotes, and a quote in it is doubled.
 */

/** The new text, or why the file cannot be written. */
export type WrittenDatabases = { readonly text: string } | { readonly problem: string };

/** One `key=value` of a connection string. */
export interface Pair {
  readonly key: string;
  /** The place in the connection string of the value, with its quotes. */
  readonly from: number;
  readonly to: number;
}

/** One line, and the database that it defines. */
export interface DatabaseLine {
  /** With its line end, if it has one. */
  readonly text: string;
  readonly section: string | null;
  readonly database: { readonly name: string; readonly from: number; readonly to: number } | null;
}

/** The longest connection string that is read, in characters. */
const valueMax = 64 * 1024;

/**
 * Points databases to their servers. In the line of each database the values of `host` and `port` are replaced, and
 * `hostaddr` goes; all else stays: its other parameters, the other lines, comments. A database without a line gets one
 * with host and port alone, so that its name is its `dbname` too.
 * @param text the present file; `null` if there is none
 * @param routes the server of each database
 */
export function routeDatabases(text: string | null, routes: ReadonlyMap<string, DatabaseAddress>): WrittenDatabases {
  const lines = databaseLines(text ?? newFile);
  const missing = new Map(routes);
  const written: string[] = [];
  for (const [at, line] of lines.entries()) {
    const { database } = line;
    const address = database === null ? undefined : routes.get(database.name);
    if (database === null || address === undefined) {
      written.push(line.text);
      continue;
    }
    missing.delete(database.name);
    const routed = routedString(line.text.slice(database.from, database.to), address);
    if (routed === null)
      return { problem: `line ${at + 1} must be a list of key=value, for database ${database.name}` };
    written.push(`${line.text.slice(0, database.from)}${routed}${line.text.slice(database.to)}`);
  }
  for (const [name, address] of routes)
    if (!isHostText(address.host)) return { problem: `the host of database ${name} must have no blanks or quotes` };
  return { text: withLines(written, lines, newLines(missing)) };
}

const newFile =
  "; Included by the configuration of PgBouncer. rolecall replaces host and port; other parameters, such as dbname,\n" +
  "; auth_user or pool_size, may be added to the lines and stay.\n[databases]\n";

/** The lines of such a file. */
export function databaseLines(text: string): readonly DatabaseLine[] {
  const lines: DatabaseLine[] = [];
  let section: string | null = null;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const header = /^[ \t\r\v\f]*\[([^\]\n]*)\]/.exec(line);
    if (header !== null) section = header[1] ?? "";
    // An included file goes on in the section of the file that includes it.
    const isDatabase = header === null && (section === null || section === "databases");
    lines.push({ text: line, section, database: isDatabase ? databaseOf(line) : null });
  }
  return lines;
}

function databaseOf(line: string): DatabaseLine["database"] {
  const match = /^[ \t\r\v\f]*([\w.*-]+)[ \t]*=[ \t]*/.exec(line);
  if (match === null) return null;
  const from = match[0].length;
  return { name: match[1] ?? "", from, to: Math.max(from, lengthWithoutBlanks(line)) };
}

/** As C counts blanks: a byte of another character, such as 0xa0, is none. */
function lengthWithoutBlanks(line: string): number {
  let end = line.length;
  while (end > 0 && " \t\n\v\f\r".includes(line.charAt(end - 1))) end -= 1;
  return end;
}

/** The pairs of a connection string. @returns `null` if it is no list of pairs */
export function pairsOf(value: string): readonly Pair[] | null {
  if (value.length > valueMax) return null;
  const pairs: Pair[] = [];
  const pattern = / *([^ =]+) *= *('(?:[^']|'')*'(?= |$)|[^ '][^ ]*)/y;
  while (pattern.lastIndex < value.length) {
    const match = pattern.exec(value);
    if (match === null) return null;
    const [, key = "", raw = ""] = match;
    pairs.push({ key, from: pattern.lastIndex - raw.length, to: pattern.lastIndex });
  }
  return pairs;
}

/** A connection string with another server; `null` if it cannot be read. */
function routedString(value: string, { host, port }: DatabaseAddress): string | null {
  const pairs = pairsOf(value);
  if (pairs === null) return null;
  let routed = "";
  let kept = 0;
  for (const [at, { key, from, to }] of pairs.entries()) {
    const before = pairs[at - 1]?.to ?? 0;
    if (key === "host" || key === "port") routed += `${value.slice(kept, from)}${key === "host" ? host : port}`;
    else if (key === "hostaddr") routed += value.slice(kept, before);
    else continue;
    kept = to;
  }
  routed = `${routed}${value.slice(kept)}`.replace(/^ +/, "");
  const added = [
    ...(pairs.some(({ key }) => key === "host") ? [] : [`host=${host}`]),
    ...(pairs.some(({ key }) => key === "port") ? [] : [`port=${port}`]),
  ];
  return [...added, ...(routed === "" ? [] : [routed])].join(" ");
}

function newLines(missing: ReadonlyMap<string, DatabaseAddress>): string {
  return [...missing].map(([name, { host, port }]) => `${name} = host=${host} port=${port}\n`).join("");
}

/** Adds lines at the end of the section of databases, which the file begins with if it has no header. */
function withLines(written: readonly string[], lines: readonly DatabaseLine[], added: string): string {
  if (added === "") return written.join("");
  const last = lines.findLastIndex(({ section }) => section === null || section === "databases");
  const before = written.slice(0, last + 1).join("");
  const after = written.slice(last + 1).join("");
  const end = before === "" || before.endsWith("\n") ? "" : "\n";
  if (last < 0 && after !== "") return `[databases]\n${added}${after}`;
  return `${before}${end}${added}${after}`;
}

/** Whether a host needs no quotes and cannot end its value: a name or an address. */
function isHostText(host: string): boolean {
  return /^[\w.:%-]{1,255}$/.test(host);
}
