import { routeOf, type Route } from "../../core/health/route.ts";
import { sectionsOf, type HaproxySection } from "../../core/balancing/haproxy-sections.ts";

/** A directive of an haproxy.cfg that judges servers by something that `rolecall compare` does not compare. */
export interface UncomparedDirective {
  /** Its words, as far as they identify it. */
  readonly directive: string;
  /** The keyword and name of its section: `backend reads`. */
  readonly section: string;
  readonly line: number;
  /** What HAProxy judges by. */
  readonly why: string;
  /** What to do, where that is known. */
  readonly action?: string;
}

type CheckKind = "tcp" | "http" | "other";

/** The statuses that nodes and rolecall answer to checks. compare counts 200 as up, and every other one as down. */
const answered = [200, 400, 404, 500, 501, 502, 503, 504] as const;

/** Other kinds of checks: each is an option of its own. */
const otherChecks =
  /^(?:tcp-check|pgsql-check|mysql-check|redis-check|smtpchk|ldap-check|ssl-hello-chk|spop-check|external-check)$/;

const byOwnSteps = "HAProxy judges by steps of its own, which compare does not send";
const byProtocol = "HAProxy sends checks in another form than HTTP/1.1 to the server itself";

/** Words of `server` and `default-server` that judge by more than the answer to the check. */
const serverWords: ReadonlyMap<string, string> = new Map([
  ["agent-check", "the answer of an agent drains or stops the server too"],
  ["observe", "errors of the clients' own traffic take the server down too"],
  ["track", "the state of another server decides"],
  [
    "verify",
    "a certificate that does not verify takes the server down; compare uses the CA of rolecall's configuration",
  ],
  ["check-proto", byProtocol],
  ["check-alpn", byProtocol],
  ["check-send-proxy", byProtocol],
  ["check-via-socks4", byProtocol],
]);

/**
 * Goes through the directives of an haproxy.cfg that shape a check or judge its answer. Returns those that `rolecall
 * compare` does not compare; docs/cli.md ("Shadow mode") lists them all.
 */
export function readUncompared(text: string): readonly UncomparedDirective[] {
  let inherited: { readonly kind: CheckKind; readonly isChecked: boolean } = { kind: "tcp", isChecked: false };
  return sectionsOf(text).flatMap((section) => {
    if (section.keyword === "global") return [];
    const own = section.lines.flatMap(({ tokens, number }) =>
      uncompared(tokens).map((one) => ({ ...one, section: section.name, line: number })),
    );
    const kind = section.lines.reduce((known, { tokens }) => kindAfter(tokens, known), inherited.kind);
    const isChecked = section.lines.reduce((known, { tokens }) => checkedAfter(tokens, known), inherited.isChecked);
    if (section.keyword === "defaults") inherited = { kind, isChecked };
    return kind === "tcp" ? [...own, ...tcpOnly(section, isChecked)] : own;
  });
}

/** The kind of checks of a section after one more line of it. */
function kindAfter([first, second = "", third = ""]: readonly string[], known: CheckKind): CheckKind {
  if (first === "no" && second === "option" && (third === "httpchk" || otherChecks.test(third))) return "tcp";
  if (first !== "option") return known;
  return second === "httpchk" ? "http" : otherChecks.test(second) ? "other" : known;
}

function checkedAfter(tokens: readonly string[], known: boolean): boolean {
  if (tokens[0] !== "default-server") return known;
  return tokens.includes("no-check") ? false : known || tokens.includes("check");
}

/** The first server of a section that HAProxy only connects to: one finding says it of all. */
function tcpOnly({ name, lines }: HaproxySection, isChecked: boolean): readonly UncomparedDirective[] {
  const server = lines.find(
    ({ tokens }) =>
      isServer(tokens) &&
      (isChecked ? !tokens.includes("no-check") : tokens.includes("check")) &&
      !tokens.includes("track"),
  );
  if (server === undefined) return [];
  const why =
    "HAProxy only connects to the servers: a replica in a write pool is up too, as there is no option httpchk";
  return [
    { directive: `${server.tokens[0] ?? ""} ${server.tokens[1] ?? ""} check`, section: name, line: server.number, why },
  ];
}

type Uncompared = Pick<UncomparedDirective, "directive" | "why" | "action">;

function uncompared(tokens: readonly string[]): readonly Uncompared[] {
  const [first = "", second = ""] = tokens;
  const directive = `${first} ${second}`;
  switch (first) {
    case "option":
      // Without a path it only turns checks on: http-check send says what is sent.
      if (second === "httpchk" && tokens.length === 2) return [];
      if (second === "httpchk")
        return tokens[2]?.startsWith("/") === false
          ? ofMethod(tokens[2], tokens[3], directive)
          : ofMethod("OPTIONS", tokens[2], directive);
      return otherChecks.test(second) ? [{ directive, why: byOwnSteps }] : [];
    case "http-check":
      return ofHttpCheck(second, tokens.slice(2));
    case "tcp-check":
    case "external-check":
      return [{ directive, why: byOwnSteps }];
    case "server":
      return ofServer(first, tokens.slice(3));
    case "server-template":
      return [ofTemplate(tokens), ...ofServer(first, tokens.slice(4))];
    case "default-server":
      return ofServer(first, tokens.slice(1));
    default:
      return [];
  }
}

function isServer([keyword]: readonly string[]): boolean {
  return keyword === "server" || keyword === "server-template";
}

function ofServer(keyword: string, words: readonly string[]): readonly Uncompared[] {
  return words.flatMap((word) => {
    const why = serverWords.get(word);
    return why === undefined ? [] : [{ directive: `${keyword} … ${word}`, why }];
  });
}

/** The names of at most so many positions of a template are spelled out. */
const positionsMax = 4;

/** `server-template PREFIX COUNT|FIRST-LAST NAME`: its servers are called by their positions, as `pg1`, `pg2`, `pg3`. */
function ofTemplate([keyword = "", prefix = "", range = "", source = ""]: readonly string[]): Uncompared {
  const [low = NaN, high = NaN] = (range.includes("-") ? range : `1-${range}`).split("-").map(Number);
  const directive = `${keyword} ${prefix} ${range}`;
  const count = Math.max(0, Math.min(high - low + 1, positionsMax)) || 0;
  const names = Array.from({ length: count }, (_, at) => `${prefix}${low + at}`);
  const last = `${prefix}${high}`;
  const positions = names.at(-1) === last || names.length === 0 ? names : [...names.slice(0, -1), "…", last];
  const servers = positions.length === 0 ? "its servers" : `its servers ${positions.join(", ")}`;
  const why =
    `${servers} are positions that HAProxy fills from ${source === "" ? "a name" : source}, not nodes: a check that ` +
    "names its node by the server (%[srv_name], %s) asks about another one; compare asks every node by its own name";
  return { directive, why };
}

/** Routes to which nodes answer GET only: Patroni answers 503 to their HEAD and OPTIONS, always (test/vectors/README.md). */
const getOnly: ReadonlySet<Route> = new Set<Route>(["liveness", "readiness"]);

/**
 * A method that is not GET. Nodes and rolecall answer HEAD and OPTIONS of the other health checks with the status of GET,
 * which is all that HAProxy and compare judge by.
 * @param uri the path and query; HAProxy asks for `/` where it is missing
 */
function ofMethod(method: string, uri: string | undefined, directive: string): readonly Uncompared[] {
  if (method === "GET") return [];
  const shown = `${directive} (${method})`;
  if (method !== "HEAD" && method !== "OPTIONS")
    return [
      { directive: shown, why: `compare sends GET, and nodes check by GET, HEAD and OPTIONS only`, action: useGet },
    ];
  const path = uri ?? "/";
  const route = routeOf(
    path
      .replace(/\?.*$/, "")
      .replace(nodePrefix, "")
      .replace(/^\/|\/$/g, ""),
  );
  if (route === undefined)
    return [
      { directive: shown, why: `compare sends GET, and nodes may answer ${method} ${path} otherwise`, action: useGet },
    ];
  if (!getOnly.has(route)) return [];
  return [{ directive: shown, why: `nodes answer ${method} /${route} with 503 always`, action: useGet }];
}

const useGet = "Use GET";

/** What rolecall's paths say of the node before the route. */
const nodePrefix = /^(?:\/clusters\/[^/]+)?(?:\/nodes\/[^/]+)?(?=\/)/;

function ofHttpCheck(action: string, words: readonly string[]): readonly Uncompared[] {
  const directive = `http-check ${action}`;
  switch (action) {
    case "expect":
      return ofExpectation(words);
    case "send":
      return [
        ...(words.includes("meth")
          ? ofMethod(
              valueOf(words, "meth") ?? "",
              valueOf(words, "uri") ?? valueOf(words, "uri-lf"),
              `${directive} meth`,
            )
          : []),
        ...(words.includes("hdr") ? headersOf(words) : []),
        ...["body", "body-lf"]
          .filter((word) => words.includes(word))
          .map((word) => ({ directive: `${directive} ${word}`, why: "compare sends no body" })),
      ];
    case "disable-on-404":
      return [{ directive, why: "a 404 drains a server; compare counts it as down" }];
    case "send-state":
      return [
        { directive, why: "rolecall answers moved if the server's address is not the node's; compare sends none" },
      ];
    case "connect":
    case "set-var":
    case "set-var-fmt":
    case "unset-var":
      return [{ directive, why: byOwnSteps }];
    default:
      return [];
  }
}

/** The word after another one; `undefined` if there is none. */
function valueOf(words: readonly string[], name: string): string | undefined {
  const at = words.indexOf(name);
  return at === -1 ? undefined : words[at + 1];
}

/** A Host alone says nothing to nodes. */
function headersOf(words: readonly string[]): readonly Uncompared[] {
  const names = words.flatMap((word, at) => (word === "hdr" ? [words[at + 1] ?? ""] : []));
  return names
    .filter((name) => name.toLowerCase() !== "host")
    .map((name) => ({ directive: `http-check send hdr ${name}`, why: "compare sends no such header" }));
}

/** Options of `http-check expect` that come before the expectation, each with a value. */
const expectOptions = /^(?:comment|min-recv|ok-status|error-status|tout-status|on-success|on-error|status-code)$/;

/** An expectation that accepts 200 and no other status that is answered is what compare counts. */
function ofExpectation(words: readonly string[]): readonly Uncompared[] {
  let at = 0;
  while (expectOptions.test(words[at] ?? "")) at += 2;
  const isNegated = words[at] === "!";
  const [kind = "", pattern = ""] = words.slice(at + (isNegated ? 1 : 0));
  const directive = `http-check expect ${isNegated ? "! " : ""}${kind}`;
  if (kind !== "status" && kind !== "rstatus")
    return [{ directive, why: "HAProxy judges by headers or the body, and compare by the status alone" }];
  const matches = statusMatcher(kind, pattern);
  const isSame = answered.every((status) => (matches(status) !== isNegated) === (status === 200));
  return isSame ? [] : [{ directive: `${directive} ${pattern}`, why: "compare counts 200 as up, and no other status" }];
}

/** @returns what never matches for a pattern that is not understood: it is named then */
function statusMatcher(kind: string, pattern: string): (status: number) => boolean {
  if (kind === "status") {
    const ranges = pattern.split(",").map((range) => range.split("-").map(Number));
    return (status) => ranges.some(([low = NaN, high = low]) => status >= low && status <= high);
  }
  try {
    const expression = new RegExp(pattern);
    return (status) => expression.test(String(status));
  } catch {
    return () => false;
  }
}
