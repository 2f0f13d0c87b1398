import { isObject, listOf, parseJson } from "../../cluster/values/json.ts";
import type { RolecallReply } from "./exchange.ts";

/** The default addresses of a running rolecall: of its health listener and of its admin listener. */
export const defaultServers = { node: "http://127.0.0.1:8008", admin: "http://127.0.0.1:9108" } as const;

/** The kinds of listeners that commands use. `management` is a health listener that forwards management calls. */
export type ListenerKind = "node" | "admin" | "management";

/** A listener that `/livez` names. */
interface NamedListener {
  readonly dialect: string;
  readonly port: number;
  readonly tls: boolean;
  readonly management: boolean;
}

/** What a listener says about itself and others (http/node-api/listener-directory.ts). */
interface DescribedListener {
  readonly dialect: string;
  readonly listeners: readonly NamedListener[];
}

/** The result of a search for a listener. */
export type FoundListener =
  | { readonly kind: "found"; readonly url: URL }
  /** The listener is the wanted one itself, or it is unknown what it is. */
  | { readonly kind: "here" }
  /** The listener is another one, and names none of the wanted kind. */
  | { readonly kind: "missing"; readonly dialect: string }
  /** The wanted listener has no TLS, but the user's server has. */
  | { readonly kind: "no_tls"; readonly url: URL };

/** Requests `/livez` of a listener. Returns `null` if it does not answer. */
export type AskListener = (base: URL) => Promise<RolecallReply | null>;

/**
 * Finds the listener of a kind that belongs to the rolecall behind a URL. Only ports of the same host are followed, and
 * https never leads to http: the credentials of the user go with the request.
 */
export async function findListener(start: URL, kind: ListenerKind, ask: AskListener): Promise<FoundListener> {
  const described = await describe(start, ask);
  if (described === null || isOwn(described, kind)) return { kind: "here" };
  const direct = described.listeners.find((listener) => isOfKind(listener, kind));
  if (direct !== undefined) return reachable(start, direct);
  // A health listener names only admin listeners, and an admin listener names all of them.
  const admin = described.listeners.find((listener) => isOfKind(listener, "admin"));
  const next = admin === undefined || kind === "admin" ? null : reachable(start, admin);
  if (next?.kind === "found") {
    const listener = (await describe(next.url, ask))?.listeners.find((candidate) => isOfKind(candidate, kind));
    if (listener !== undefined) return reachable(start, listener);
  }
  return { kind: "missing", dialect: described.dialect };
}

function isOwn({ dialect }: DescribedListener, kind: ListenerKind): boolean {
  return dialect === kind;
}

function isOfKind({ dialect, management }: NamedListener, kind: ListenerKind): boolean {
  return kind === "management" ? dialect === "node" && management : dialect === kind;
}

function reachable(start: URL, { port, tls }: NamedListener): FoundListener {
  const url = new URL(`${tls ? "https" : "http"}://${start.hostname}:${port}`);
  return start.protocol === "https:" && !tls ? { kind: "no_tls", url } : { kind: "found", url };
}

async function describe(base: URL, ask: AskListener): Promise<DescribedListener | null> {
  const reply = await ask(base);
  const document = reply === null ? undefined : parseJson(reply.text);
  if (!isObject(document) || typeof document["listener"] !== "string") return null;
  const listeners = listOf(document["listeners"])
    .filter(isObject)
    .flatMap(({ dialect, port, tls, management }) =>
      typeof dialect === "string" && typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65_536
        ? [{ dialect, port, tls: tls === true, management: management === true }]
        : [],
    );
  return { dialect: document["listener"], listeners };
}
