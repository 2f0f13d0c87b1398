import { readFileSync, statSync } from "node:fs";

/** What a line of a password file is matched with. */
export interface Login {
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
export function passwordFor(login: Login, file: string): string | null {
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
