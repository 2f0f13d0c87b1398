import type { ParseError } from "../../health/check.ts";

/** The longest request target that is read, in characters. A longer one is answered 414. */
export const targetMax = 2_048;

/** A request target, taken apart: which cluster and node its path names, and what of them is asked. */
export interface RequestTarget {
  readonly cluster: string | null;
  readonly node: string | null;
  /** The path that is left, decoded, without slashes around it: `replica`, or nothing. */
  readonly path: string;
  /** The part after `?`, still percent-encoded. */
  readonly query: string;
}

/**
 * Takes a target apart: `/nodes/{node}/{route}`, `/clusters/{cluster}/nodes/{node}/{route}`, `/clusters/{cluster}/{route}` or a bare
 * `/{route}` (design.md, "Which node is meant"). One trailing slash is tolerated; `*` is `/` (RFC 9110, 9.3.7); an absolute
 * target counts without its origin (RFC 9112, 3.2.2).
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
