import type { ParseError } from "../../health/check.ts";

/** The longest request target, in characters. A longer one is answered 414. */
export const targetMax = 2_048;

/** A parsed request target: the cluster and node that its path names, and the route. */
export interface RequestTarget {
  readonly cluster: string | null;
  readonly node: string | null;
  /** The decoded rest of the path without leading and trailing slashes, as `replica`; empty if there is none. */
  readonly path: string;
  /** The part after `?`, still percent-encoded. */
  readonly query: string;
}

/**
 * Parses a target: `/nodes/{node}/{route}`, `/clusters/{cluster}/nodes/{node}/{route}`, `/clusters/{cluster}/{route}`
 * or a bare `/{route}` (docs/checks.md, "How a request selects a node"). Accepts one trailing slash. `*` is `/` (RFC
 * 9110, 9.3.7). Ignores the origin of an absolute target (RFC 9112, 3.2.2).
 * @returns the target, or the problem of a path that is not percent-encoded correctly
 */
export function parseRequestTarget(target: string): RequestTarget | { readonly problem: ParseError } {
  const local = target === "*" ? "/" : target.replace(/^https?:\/\/[^/?#]*/i, "");
  const cut = local.indexOf("?");
  const path = cut < 0 ? local : local.slice(0, cut);
  const query = cut < 0 ? "" : local.slice(cut + 1);
  const segments = decode(path);
  if (segments === undefined)
    return { problem: { subject: "path", value: path, allowed: "a percent-encoded path such as /nodes/pg1/primary" } };
  const [first, second, third, fourth, ...rest] = segments;
  if (first === "clusters" && second !== undefined && third === "nodes" && fourth !== undefined) {
    return { cluster: second, node: fourth, path: rest.join("/"), query };
  }
  if (first === "clusters" && second !== undefined)
    return { cluster: second, node: null, path: segments.slice(2).join("/"), query };
  if (first === "nodes" && second !== undefined)
    return { cluster: null, node: second, path: segments.slice(2).join("/"), query };
  return { cluster: null, node: null, path: segments.join("/"), query };
}

function decode(path: string): string[] | undefined {
  const inner = path.replace(/^\//, "").replace(/\/$/, "");
  if (inner === "") return [];
  try {
    return inner.split("/").map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
