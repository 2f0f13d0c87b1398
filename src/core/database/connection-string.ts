/** The parameters of a connection string, by the keyword that libpq gives them. */
export type ConnectionParameters = ReadonlyMap<string, string>;

/** The keywords that a connection string may have. */
export const connectionKeywords = [
  "host",
  "port",
  "dbname",
  "user",
  "passfile",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
] as const;

/**
 * Parses a connection string of libpq: a URL (`postgresql://user@host:port/dbname?sslmode=require`) or `keyword=value`
 * pairs. Messages never repeat the string, because it may hold a password.
 * @param from the key or option, for the message
 * @throws Error if it cannot be parsed, has an unknown keyword or names a password
 */
export function parseConnectionString(from: string, text: string): ConnectionParameters {
  const pairs = /^postgres(?:ql)?:\/\//.test(text) ? urlPairs(from, text) : keywordPairs(from, text);
  const parameters = new Map<string, string>();
  for (const [keyword, value] of pairs) {
    if (keyword === "password")
      throw new Error(
        `${from} must not hold a password: put it into a password file, or into the file of PGPASSFILE (default ~/.pgpass)`,
      );
    if (!connectionKeywords.some((known) => known === keyword))
      throw new Error(
        `${from} must have the keywords ${connectionKeywords.join(", ")} only, got ${JSON.stringify(shown(keyword))}`,
      );
    parameters.set(keyword, value);
  }
  return parameters;
}

type Pairs = readonly (readonly [keyword: string, value: string])[];

function urlPairs(from: string, text: string): Pairs {
  try {
    const url = new URL(text);
    const given: Pairs = [
      ["password", decodeURIComponent(url.password)],
      ["host", decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, "$1")],
      ["port", url.port],
      ["user", decodeURIComponent(url.username)],
      ["dbname", decodeURIComponent(url.pathname.replace(/^\//, ""))],
    ];
    return [...given.filter(([, value]) => value !== ""), ...url.searchParams];
  } catch {
    throw new Error(`${from} must be a URL such as postgresql://user@host:5432/dbname, with one host`);
  }
}

/** `keyword = value` pairs; a value with spaces is in single quotes, and a backslash escapes a character. */
function keywordPairs(from: string, text: string): Pairs {
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'(?=\s|$)|((?:[^\s'\\]|\\.)*)(?=\s|$))\s*/gy;
  const pairs: (readonly [string, string])[] = [];
  while (pair.lastIndex < text.length) {
    const match = pair.exec(text);
    if (match === null)
      throw new Error(
        `${from} must be a URL (postgresql://user@host:5432/dbname) or keyword=value pairs (host=… port=… user=…), ` +
          `got something else after ${pairs.length} pairs`,
      );
    pairs.push([match[1] ?? "", (match[2] ?? match[3] ?? "").replaceAll(/\\(.)/gs, "$1")]);
  }
  return pairs;
}

/** A keyword as a message may show it: what follows an unquoted `=` could be a secret. */
function shown(keyword: string): string {
  return keyword.slice(0, 30);
}
