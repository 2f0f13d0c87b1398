import * as z from "zod";
import { duration, flag, integer, list, parsedText, plainText, section } from "./value-schemas.ts";
import { hasScryptForm, parseScryptHash, scryptCostAllowed, scryptHashAllowed } from "../values/scrypt-hash.ts";
import { defaultLimits } from "../values/listener-limits.ts";
import { cidrAllowed, parseCidr } from "../values/cidr.ts";

const file = "the name of a PEM file";
const filesMax = 64;

function onOrOff(): z.ZodType<boolean> {
  return z
    .union([z.boolean(), z.enum(["on", "off"])], { error: "on or off" })
    .default(false)
    .transform((written) => written === true || written === "on");
}

function requestScope(): z.ZodEnum<{ all: "all"; unsafe: "unsafe" }> {
  return z.enum(["all", "unsafe"], { error: "one of all, unsafe" });
}

const tlsSchema = z
  .strictObject(
    {
      cert: plainText(file, 4096).describe("The listener's certificate with its chain"),
      key: plainText(file, 4096).describe("Key of that certificate"),
      ca: plainText(file, 4096).nullable().default(null).describe("CA certificates that clients are verified with"),
      min_version: z
        .enum(["TLSv1.2", "TLSv1.3"], { error: "one of TLSv1.2, TLSv1.3" })
        .default("TLSv1.2")
        .describe("The lowest TLS version accepted"),
      client: z
        .enum(["off", "optional", "required"], { error: "one of off, optional, required" })
        .default("off")
        .describe("Whether a client certificate is requested. The values optional and required need ca"),
    },
    { error: "a mapping with the keys cert, key, ca, min_version and client, at least cert and key" },
  )
  .refine(({ client, ca }) => client === "off" || ca !== null, {
    error: "off unless ca is set",
    path: ["client"],
  })
  .transform(({ min_version: minVersion, ...rest }) => ({ ...rest, minVersion }));

const userAllowed = "a user name of 1 to 128 characters without colons or control characters";
// oxlint-disable-next-line no-control-regex -- control characters are what the pattern rejects
const userName = z.string({ error: userAllowed }).regex(/^[^:\u0000-\u001f\u007f]{1,128}$/, { error: userAllowed });

const userSchema = z.strictObject(
  {
    user: userName.describe("Name of the user"),
    scrypt: z
      .string({ error: scryptHashAllowed })
      .refine(hasScryptForm, { error: scryptHashAllowed, abort: true })
      .refine((text) => parseScryptHash(text) !== undefined, { error: scryptCostAllowed })
      .describe("Hash of the password, as rolecall hash-password prints it"),
  },
  { error: "a mapping with the keys user and scrypt" },
);

const authSchema = z
  .strictObject(
    {
      for: requestScope()
        .default("all")
        .describe("all: every request needs a credential. unsafe: only requests that change something do"),
      basic: list(userSchema, 256).describe("Users with passwords"),
      bearer: list(plainText("the name of a file with one token per line", 4096), filesMax).describe(
        "Files with one bearer token per line",
      ),
      certificate: flag()
        .default(false)
        .describe("Whether a verified client certificate is a credential. Needs tls.client"),
    },
    { error: "a mapping with the keys for, basic, bearer and certificate" },
  )
  .refine(({ basic, bearer, certificate }) => basic.length > 0 || bearer.length > 0 || certificate, {
    error: "a mapping with at least one of basic, bearer and certificate: without a credential no client could log in",
  });

/** An origin as browsers send it: without a path or user, and without the port if it is the scheme's default. */
function webOrigin(): z.ZodType<string, string> {
  return parsedText({
    allowed: "an origin such as https://console.example.com or http://10.0.0.5:8080",
    pattern: /^https?:\/\/[^\s/?#@*]+$/,
    parse: originOf,
  });
}

/**
 * Browsers send a host of letters, digits, dots and hyphens, or an IP address. A text that URL parsing would
 * silently correct is rejected.
 */
function originOf(text: string): string | undefined {
  if (
    text.length > 300 ||
    !/^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:[1-9]\d{0,4})?\/?$/i.test(text)
  )
    return undefined;
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

const limitsSchema = z
  .strictObject(
    {
      connections: integer(1, 1_000_000)
        .default(defaultLimits.connections)
        .describe(
          "Open connections. Connections above the limit are closed. All listeners together share a second limit: the " +
            "file descriptors of the process (ulimit -n), minus a reserve",
        ),
      connections_per_address: integer(1, 1_000_000)
        .default(defaultLimits.connectionsPerAddress)
        .describe("Open connections of one client address"),
      request_timeout: duration("100ms", "1h")
        .prefault("30s")
        .describe("Time limit of receiving a whole request, and of its head if it is less than 10s"),
      idle_timeout: duration("100ms", "1h")
        .prefault("2min")
        .describe("How long a connection may be idle between two requests"),
      calls_in_flight: integer(1, 1000)
        .default(defaultLimits.callsInFlight)
        .describe("How many management calls to one cluster run at once"),
      call_timeout: duration("1s", "1d").prefault("10min").describe("Time limit of a management call"),
      fetches: integer(1, 1000)
        .default(defaultLimits.fetches)
        .describe("How many /metrics and /exporter/… responses of one node are streamed at once"),
    },
    { error: "a mapping with the keys of limits" },
  )
  .transform((written) => ({
    connections: written.connections,
    connectionsPerAddress: written.connections_per_address,
    headerTimeoutMs: Math.min(defaultLimits.headerTimeoutMs, written.request_timeout),
    requestTimeoutMs: written.request_timeout,
    idleTimeoutMs: written.idle_timeout,
    pipelined: defaultLimits.pipelined,
    bodyMax: defaultLimits.bodyMax,
    callsInFlight: written.calls_in_flight,
    callTimeoutMs: written.call_timeout,
    fetches: written.fetches,
  }));

/** The `proxy_protocol` mapping of a listener: the networks in its key `from`. */
const proxyProtocolSchema = z
  .strictObject(
    {
      from: networks()
        .min(1, { error: "a list of at least one address or network" })
        .describe(
          "Addresses and networks of balancers that send the preamble with every connection, such as 10.0.0.0/8. " +
            "Their connections without one are answered with 400",
        ),
    },
    { error: "a mapping with the key from" },
  )
  .transform(({ from }) => from);

/** A list of addresses and networks. */
function networks(): z.ZodArray<z.ZodType<string>> {
  const error = "a list of at most 256 addresses or networks";
  return z.array(network(), { error }).max(256, { error });
}

function network(): z.ZodType<string> {
  return z.string({ error: cidrAllowed }).refine((text) => parseCidr(text) !== undefined, { error: cidrAllowed });
}

/** One entry of `followers`. */
const followerSchema = z
  .strictObject(
    {
      token_file: plainText("the name of a file with one token per line", 4096)
        .nullable()
        .default(null)
        .describe("File with one token per line. Such a token permits nothing else"),
      certificate: plainText("the common name of a certificate", 256)
        .nullable()
        .default(null)
        .describe("Common name of the follower's certificate. Needs tls.client"),
      clusters: z
        .array(plainText("the name of a cluster", 128), { error: "a list of names of clusters" })
        .min(1, { error: "a list of at least one name" })
        .max(10_000, { error: "a list of at most 10000 names" })
        .nullable()
        .default(null)
        .describe("The clusters that it may follow. Default: all"),
      drains: flag()
        .default(false)
        .describe(
          "Whether it may drain and distrust nodes of these clusters, as members of a fleet do for their operators",
        ),
    },
    { error: "a mapping with the keys token_file or certificate, clusters and drains" },
  )
  .refine(({ token_file: token, certificate }) => (token === null) !== (certificate === null), {
    error: "a mapping with either token_file or certificate",
  })
  .transform(({ token_file: tokenFile, ...written }) => ({ ...written, tokenFile }));

/** The keys of a listener that control access to it, to be spread into the listener's schema. */
export const listenerAccessFields = {
  management: onOrOff().describe(
    "on: a health listener forwards management calls, /metrics and /exporter/… to the nodes; " +
      "an admin listener forwards switchovers, and must have auth or require client certificates (tls.client). " +
      "off: health and admin listeners answer these requests with 403. Default: off",
  ),
  read_only: flag()
    .default(false)
    .describe(
      "Whether an admin or exporter listener refuses requests that change something, such as drains and /reload, with 403",
    ),
  tls: tlsSchema.nullable().default(null).describe("TLS on this listener. Default: none"),
  auth: authSchema
    .nullable()
    .default(null)
    .describe("Authentication of clients. Any one of the credentials is sufficient. Default: none"),
  hint_tokens: list(plainText("the name of a file with one token per line", 4096), filesMax).describe(
    "Files with one token per line for POST /hint on an admin listener. Such a token permits nothing else",
  ),
  pause_tokens: list(plainText("the name of a file with one token per line", 4096), filesMax).describe(
    "Files with one token per line for /pauses and /claims on an admin listener, where other rolecalls announce what they " +
      "pause, and ask whether they may switch over. Such a token permits nothing else",
  ),
  before_stop_tokens: list(
    z.strictObject(
      {
        cluster: plainText("the name of a cluster", 128).describe("The cluster"),
        file: plainText("the name of a file with one token per line", 4096).describe("The file"),
      },
      { error: "a mapping with the keys cluster and file" },
    ),
    filesMax,
  ).describe(
    "Files with one token per line for POST /hint with event=before_stop on an admin listener, each for one cluster: " +
      "the clients of its poolers are held while its leader stops. Such a token permits nothing else",
  ),
  followers: list(followerSchema, 256).describe(
    "The instances that may follow clusters of this admin listener. Default: every client that the listener accepts may follow all clusters",
  ),
  allow: networks()
    .nullable()
    .default(null)
    .describe("Client addresses and networks that are allowed, such as 10.0.0.0/8. Default: all"),
  allow_for: requestScope()
    .default("all")
    .describe("all: allow applies to every request. unsafe: only to requests that change something"),
  proxy_protocol: proxyProtocolSchema
    .nullable()
    .default(null)
    .describe(
      "Balancers whose connections begin with a PROXY protocol preamble (version 1 or 2). The client that it names " +
        "counts for allow, limits and the log. Default: none, and a preamble is answered with 400",
    ),
  trusted_origins: list(webOrigin(), 64).describe(
    "Web origins whose pages may send unsafe requests, such as https://console.example.com. Pages of the listener itself " +
      "may send them if the Host of the request is an IP address or localhost, or if the listener has auth or tls",
  ),
  limits: section(limitsSchema).describe("Limits of this listener"),
};
