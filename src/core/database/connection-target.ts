import { readFileSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../cluster/values/error-message.ts";
import { parseConnectionString } from "./connection-string.ts";

const sslModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type SslMode = (typeof sslModes)[number];

/** A PostgreSQL server, or a balancer in front of some, and how to log in. */
export interface ConnectionTarget {
  /** A host name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | null;
  readonly ssl: { readonly mode: SslMode; readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** Where a connection target comes from. */
export interface TargetSources {
  /** The key or option, for messages. */
  readonly from: string;
  readonly text: string;
  /** A file that holds the password alone, or `null`. */
  readonly passwordFile: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the server that a connection string names. What it leaves out comes from libpq's variables (PGHOST, PGPORT,
 * PGUSER, PGDATABASE, PGSSLMODE, PGSSLROOTCERT, PGSSLCERT, PGSSLKEY), then from libpq's defaults. The password comes
 * from the password file, PGPASSWORD or the file of `passfile`, PGPASSFILE or ~/.pgpass, the first that has one.
 * @throws Error if a value is not valid, or a file cannot be read
 */
export function connectionTarget({ from, text, passwordFile, env }: TargetSources): ConnectionTarget {
  const given = parseConnectionString(from, text);
  const value = (keyword: string, variable: string): string | null => given.get(keyword) ?? (env[variable] || null);
  const host = value("host", "PGHOST") ?? "localhost";
  if (host.includes(",")) throw new Error(`${from} must name one host, the balancer, got ${JSON.stringify(host)}`);
  const user = value("user", "PGUSER") ?? userInfo().username;
  const database = value("dbname", "PGDATABASE") ?? user;
  const port = portOf(from, value("port", "PGPORT") ?? "5432");
  const passfile = value("passfile", "PGPASSFILE") ?? join(env["HOME"] ?? homedir(), ".pgpass");
  const password =
    passwordFile === null
      ? (env["PGPASSWORD"] ?? passwordFor({ host, port, database, user }, passfile))
      : readText(`the password file of ${from}`, passwordFile).replace(/\r?\n[^]*$/, "");
  const file = (keyword: string, variable: string): string | undefined => {
    const name = value(keyword, variable);
    return name === null ? undefined : readText(`${keyword} of ${from}`, name);
  };
  const [ca, cert, key] = [
    file("sslrootcert", "PGSSLROOTCERT"),
    file("sslcert", "PGSSLCERT"),
    file("sslkey", "PGSSLKEY"),
  ];
  const ssl = {
    mode: sslModeOf(from, value("sslmode", "PGSSLMODE") ?? "prefer"),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  };
  return { host, port, database, user, password, ssl };
}

/** A target as messages show it: `postgres@10.0.0.5:5432/app`. */
export function targetName({ user, host, port, database }: ConnectionTarget): string {
  return `${user}@${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
}

function portOf(from: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new Error(`port of ${from} must be an integer from 1 to 65535, got ${JSON.stringify(text)}`);
}

function sslModeOf(from: string, text: string): SslMode {
  const wanted = text === "allow" ? "prefer" : text;
  const mode = sslModes.find((known) => known === wanted);
  if (mode !== undefined) return mode;
  throw new Error(`sslmode of ${from} must be one of ${sslModes.join(", ")}, got ${JSON.stringify(text)}`);
}

function readText(from: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`Cannot read ${from}: ${errorMessage(error)}`, { cause: error });
  }
}

/** What a line of a password file is matched with. */
interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * Finds a password in a file of libpq: lines of `host:port:database:user:password`, where `*` matches anything and a
 * backslash escapes `:` and itself. The first line that matches counts. As libpq does, ignores a file that others than
 * its owner can read.
 * @returns `null` if there is no such file or no line matches
 */
function passwordFor(login: Login, file: string): string | null {
  const text = readPrivate(file);
  // libpq: the directory of a Unix socket matches the host `localhost`.
  const host = login.host.startsWith("/") ? [login.host, "localhost"] : [login.host];
  const wanted = [host, [String(login.port)], [login.database], [login.user]];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const fields = fieldsOf(line);
    const isMatch = wanted.every((values, at) => fields[at] === "*" || values.includes(unescaped(fields[at])));
    if (fields.length === 5 && isMatch) return unescaped(fields[4]);
  }
  return null;
}

/** The five fields of a line, still escaped. Further colons belong to the password. */
function fieldsOf(line: string): readonly string[] {
  const match = /^((?:[^:\\]|\\.)*):((?:[^:\\]|\\.)*):((?:[^:\\]|\\.)*):((?:[^:\\]|\\.)*):(.*)$/.exec(line);
  return match === null ? [] : match.slice(1);
}

function unescaped(field: string = ""): string {
  return field.replaceAll(/\\(.)/g, "$1");
}

function readPrivate(file: string): string {
  try {
    return (statSync(file).mode & 0o077) === 0 ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}
