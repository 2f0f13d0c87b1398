import type { PoolerAddress } from "../../../core/config/values/pooler-address.ts";
import { parsePoolerAddress } from "../../../core/config/values/pooler-address.ts";
import { formatHostPort, parseHostPort } from "../../../core/config/values/address.ts";

/** Where a canary connects, and as whom. */
export interface CanaryAddress {
  readonly address: PoolerAddress;
  readonly user: string;
  readonly database: string;
  /** The address without the user, for people and metrics: `lb:5000/app`. */
  readonly target: string;
}

/** PostgreSQL's own port, which clients use where a URL has none. */
const defaultPort = 5432;
/** The most bytes of a name in PostgreSQL. */
const nameMax = 63;
const shape = /^postgres(?:ql)?:\/\/([^:@/?#]+)@(\[[0-9a-f:.%]+\]|[^:@/?#[\]]+)(?::(\d{1,5}))?(?:\/([^/?#]*))?$/i;

/**
 * Parses `postgres://user@host:port/database`, or the folder of a Unix socket in place of the host, with %2F for `/`, as
 * libpq does. Without a database it is the user's.
 * @returns `undefined` for anything else: a URL with a password or parameters, too
 */
export function parseCanaryAddress(text: string): CanaryAddress | undefined {
  const [, userText = "", hostText = "", portText = String(defaultPort), databaseText = ""] = shape.exec(text) ?? [];
  const [user, host, named] = [userText, hostText, databaseText].map(decoded);
  if (user === undefined || host === undefined || named === undefined) return undefined;
  const database = named === "" ? user : named;
  if (!isName(user) || !isName(database)) return undefined;
  const place = `${host}:${portText}`;
  const address = host.startsWith("/") ? parsePoolerAddress(place) : addressOf(place);
  if (address === undefined) return undefined;
  const shown = "host" in address ? formatHostPort(address) : `${address.folder}:${address.port}`;
  return { address, user, database, target: `${shown}/${database}` };
}

function addressOf(place: string): PoolerAddress | undefined {
  const parsed = parseHostPort(place);
  return parsed !== undefined && parsed.port > 0 ? parsed : undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function isName(text: string): boolean {
  return text !== "" && Buffer.byteLength(text) <= nameMax && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
}
