import { isObject } from "../../cluster/values/json.ts";
import * as z from "zod";
import { parseByteSize } from "../../cluster/values/byte-size.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { zoneAllowed, zonePattern } from "../../cluster/values/zone.ts";
import { hasUserInfo, isHost, parseBaseAddress, parseHostPort } from "../values/address.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";

// The schemas of single values. Each error text says what is allowed, and continues "must be".

/**
 * A text that `parse` converts to a value.
 * @param options `allowed` describes the valid texts for messages; `pattern` describes them for the JSON schema;
 * `parse` returns `undefined` for an invalid text
 */
export function parsedText<T>(options: {
  allowed: string;
  pattern: RegExp;
  parse: (text: string) => T | undefined;
}): z.ZodType<T, string> {
  const { allowed, pattern, parse } = options;
  return z
    .string({ error: allowed })
    .regex(pattern, { error: allowed })
    .transform((text, context) => {
      const value = parse(text);
      if (value !== undefined) return value;
      context.addIssue({ code: "custom", message: allowed });
      return z.NEVER;
    });
}

/** A duration in ms from `min` to `max`, both written as in the file (`10ms`, `1h`). */
export function duration(min: string, max: string): z.ZodType<number, string> {
  const minMs = parseDuration(min) ?? 0;
  const maxMs = parseDuration(max) ?? 0;
  return parsedText({
    allowed: `a duration from ${min} to ${max} with a unit (ms, s, m or min, h, d), such as 500ms or 2s`,
    pattern: /^\d+(\.\d+)?(ms|s|m|min|h|d)$/,
    parse: (text) => {
      const ms = parseDuration(text);
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined;
    },
  });
}

/** A size in bytes from `min` to `max`, both written as in the file (`16kB`, `1MB`). */
export function byteSize(min: string, max: string): z.ZodType<number, string> {
  const [least = 0, most = 0] = [parseByteSize(min), parseByteSize(max)];
  return parsedText({
    allowed: `a size from ${min} to ${max}, such as 16kB or 1MB`,
    pattern: /^(0x[\da-f]+|\d+(\.\d+)?) ?([kMGT]?B)?$/i,
    parse: (text) => {
      const bytes = parseByteSize(text);
      return bytes !== undefined && bytes >= least && bytes <= most ? bytes : undefined;
    },
  });
}

/** A whole number from `min` to `max`. */
export function integer(min: number, max: number): z.ZodType<number, number> {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** `true` or `false`. */
export function flag(): z.ZodType<boolean, boolean> {
  return z.boolean({ error: "true or false" });
}

/** The name of a cluster, a scope, a node or a member: valid in a path segment and in a header. */
export function name(): z.ZodType<string, string> {
  const error =
    "a name of 1 to 128 characters without spaces, slashes, control characters or invisible ones, and not just *";
  // \p{Cf}: format characters, which change the direction of text or are invisible.
  return z.string({ error }).regex(/^(?!\*$)[^\s/\p{Cc}\p{Cf}\p{Cs}]{1,128}$/u, { error });
}

/** The zone of a node. */
export function zoneName(): z.ZodType<string, string> {
  return z.string({ error: zoneAllowed }).regex(zonePattern, { error: zoneAllowed });
}

/** The base address of a node's API. `/` and `/patroni` after it are dropped. */
export function apiAddress(): z.ZodType<string, string> {
  return baseAddress("http://10.0.0.1:8008", ["/patroni"]);
}

/** The same, or an address of another kind by which nodes are found: it is kept as it is written. */
export function seedAddress(): z.ZodType<string, string> {
  const error = "an address such as http://10.0.0.1:8008: http or https, a host, a port, no path";
  const found = z
    .string({ error })
    .regex(/^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[\x21-\x7e]{1,1000}$/, { error, abort: true });
  return z.union([apiAddress(), found], {
    error: ({ errors }) => (Array.isArray(errors) ? (errors[0]?.[0]?.message ?? error) : error),
  });
}

/** The base address of a node's exporter. `/` and `/metrics` after it are dropped. */
export function exporterAddress(): z.ZodType<string, string> {
  return baseAddress("http://10.0.0.1:9630", ["/metrics"]);
}

/** The address of a database, `host:port`. */
export function databaseAddress(): z.ZodType<DatabaseAddress, string> {
  return parsedText({
    allowed: "host:port, such as 10.0.0.1:5432 or [fd00::1]:5432",
    pattern: /:\d+$/,
    parse: (text) => {
      const address = parseHostPort(text);
      return address !== undefined && address.port > 0 ? address : undefined;
    },
  });
}

/** An address to listen on: an IP address or a host name; brackets around IPv6 are dropped. */
export function listenAddress(): z.ZodType<string, string> {
  return parsedText({
    allowed: "an IP address or a host name, such as 127.0.0.1, :: or localhost",
    pattern: /^\S+$/,
    parse: (text) => {
      const host = text.replace(/^\[(.*)\]$/, "$1").toLowerCase();
      return isHost(host) ? host : undefined;
    },
  });
}

/** A suffix of Host headers; the result is in lower case with a leading dot. */
export function hostSuffix(): z.ZodType<string, string> {
  return parsedText({
    allowed: "the end of a host name, such as .db.internal",
    pattern: /^\S+$/,
    parse: (text) => {
      const suffix = text.toLowerCase().replace(/^\.?/, ".");
      return isHost(suffix.slice(1)) ? suffix : undefined;
    },
  });
}

/** A text of 1 to `max` characters without control characters; `what` describes it in messages. */
export function plainText(what: string, max: number): z.ZodType<string, string> {
  const error = `${what} (1 to ${max} characters)`;
  // eslint-disable-next-line no-control-regex -- control characters are what the pattern rejects
  return z.string({ error }).regex(new RegExp(`^[^\\u0000-\\u001f\\u007f]{1,${max}}$`), { error });
}

/** A list of at most `max` elements; empty if missing or `null` (a key without a value). */
export function list<T>(element: z.ZodType<T>, max: number): z.ZodType<readonly T[]> {
  const error = `a list of at most ${max}`;
  return z
    .array(element, { error })
    .max(max, { error })
    .nullable()
    .prefault([])
    .transform((elements) => elements ?? []);
}

/** A mapping whose defaults apply if it is missing or `null` (a key without a value). */
export function section<T>(mapping: z.ZodType<T>): z.ZodType<T> {
  return mapping
    .nullable()
    .prefault({})
    .transform((value) => value ?? mapping.parse({}));
}

/** Checks these keys of a mapping against each other as soon as they are valid, whatever else in it is wrong. */
export function whenValid(...keys: readonly PropertyKey[]): {
  readonly when: (payload: z.core.ParsePayload) => boolean;
} {
  return {
    when: ({ value, issues }) =>
      isObject(value) && !issues.some(({ path: [key] = [] }) => key !== undefined && keys.includes(key)),
  };
}

/** Patroni's namespace in the DCS; the result begins with a slash and does not end with one. */
export function dcsPrefix(): z.ZodType<string, string> {
  return parsedText({
    allowed: "a path of keys without spaces, such as /service",
    pattern: /^[^\s\p{Cc}\p{Cf}\p{Cs}]{0,256}$/u,
    parse: (text) => `/${text}`.replace(/\/+/g, "/").replace(/\/$/, ""),
  });
}

/**
 * The base address of an HTTP API.
 * @param example an address for error messages
 * @param ignoredPaths paths that are dropped
 */
export function baseAddress(example: string, ignoredPaths: readonly string[]): z.ZodType<string, string> {
  const allowed = `an address such as ${example}: http or https, a host, a port, no path`;
  const userInfoError = `${allowed}, and no user and password (secrets belong in a file, never in an address)`;
  const pattern = /^[hH][tT][tT][pP][sS]?:\/\//;
  return z
    .string({ error: allowed })
    .regex(pattern, { error: allowed, abort: true })
    .refine((text) => !hasUserInfo(text), { error: userInfoError, abort: true })
    .pipe(parsedText({ allowed, pattern, parse: (text) => parseBaseAddress(text, ignoredPaths) }));
}
