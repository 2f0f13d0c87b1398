import * as z from "zod";
import { parseByteSize } from "../../cluster/values/byte-size.ts";
import { cidrAllowed, parseCidr } from "../values/cidr.ts";
import {
  type BasicUser,
  type ListenerAuth,
  type ListenerAccess,
  type ListenerLimits,
  type ListenerTls,
  unrestrictedAccess,
} from "../model/listener-access-config.ts";
import { duration, flag, integer, list, plainText, readable, section } from "./value-schemas.ts";
import { hasScryptForm, parseScryptHash, scryptCostAllowed, scryptHashAllowed } from "../values/scrypt-hash.ts";

const file = "the name of a PEM file";
const filesMax = 64;

/** The keys of a listener that say what stands at its door, to be spread into the listener's own. */
export interface ListenerAccessFields {
  readonly management: z.ZodType<boolean>;
  readonly tls: z.ZodType<ListenerTls | null>;
  readonly auth: z.ZodType<ListenerAuth | null>;
  readonly allow: z.ZodType<readonly string[] | null>;
  readonly allow_for: z.ZodType<ListenerAccess["allowFor"]>;
  readonly trusted_origins: z.ZodType<readonly string[]>;
  readonly limits: z.ZodType<ListenerLimits>;
}

/** Makes the keys: `management`, `tls`, `auth`, `allow`, `allow_for`, `trusted_origins`, `limits`. */
export function listenerAccessFields(): ListenerAccessFields {
  return {
    management: onOrOff().describe(
      "on passes management calls and the streamed /metrics and /exporter/… on to the nodes. off answers them 403. Default: off",
    ),
    tls: tlsSchema()
      .nullable()
      .default(null)
      .describe("TLS on this listener. Files are read again when they change. Default: none"),
    auth: authSchema()
      .nullable()
      .default(null)
      .describe("Who has to say who they are. Any one of the credentials lets in. Default: nobody"),
    allow: z
      .array(network(), { error: "a list of at most 256" })
      .max(256, { error: "a list of at most 256" })
      .nullable()
      .default(null)
      .describe("Addresses and networks that may come in, such as 10.0.0.0/8. Default: everyone"),
    allow_for: guarded()
      .default("all")
      .describe("all: allow is for every call. unsafe: only for calls that change something"),
    trusted_origins: list(webOrigin(), 64).describe(
      "Web origins whose pages may make calls that change something, such as https://console.example.com. Pages of this Host always may",
    ),
    limits: section(limitsSchema()).describe("How much this listener takes"),
  };
}

function onOrOff(): z.ZodType<boolean> {
  return z
    .union([z.boolean(), z.enum(["on", "off"])], { error: "on or off" })
    .default(false)
    .transform((said) => said === true || said === "on");
}

function guarded(): z.ZodEnum<{ all: "all"; unsafe: "unsafe" }> {
  return z.enum(["all", "unsafe"], { error: "one of all, unsafe" });
}

function tlsSchema(): z.ZodType<ListenerTls> {
  return z
    .strictObject(
      {
        cert: plainText(file, 4096).describe("The listener's certificate, with the chain that leads to its authority"),
        key: plainText(file, 4096).describe("Key of that certificate"),
        ca: plainText(file, 4096).nullable().default(null).describe("Who signs the clients' certificates"),
        min_version: z
          .enum(["TLSv1.2", "TLSv1.3"], { error: "one of TLSv1.2, TLSv1.3" })
          .default("TLSv1.2")
          .describe("The oldest version that is spoken"),
        client: z
          .enum(["off", "optional", "required"], { error: "one of off, optional, required" })
          .default("off")
          .describe("Whether clients are asked for a certificate. Anything but off needs ca"),
      },
      { error: "a mapping of cert, key, ca, min_version and client: cert and key at least" },
    )
    .refine(({ client, ca }) => client === "off" || ca !== null, {
      error: "off, or said together with ca",
      path: ["client"],
    })
    .transform(({ min_version: minVersion, ...said }) => ({ ...said, minVersion }));
}

function authSchema(): z.ZodType<ListenerAuth> {
  return z
    .strictObject(
      {
        for: guarded()
          .default("all")
          .describe("all: every call needs a credential. unsafe: only calls that change something do"),
        basic: list(userSchema(), 256).describe("Users with passwords"),
        bearer: list(plainText("the name of a file with one token a line", 4096), filesMax).describe(
          "Files with one bearer token a line. They are read again when they change",
        ),
        certificate: flag().default(false).describe("A verified client certificate is a credential. Needs tls.client"),
      },
      { error: "a mapping of for, basic, bearer and certificate" },
    )
    .refine(({ basic, bearer, certificate }) => basic.length > 0 || bearer.length > 0 || certificate, {
      error: "a mapping with at least one of basic, bearer and certificate: else nobody could come in",
    });
}

function userSchema(): z.ZodType<BasicUser> {
  const error = "a user name of 1 to 128 characters without a colon and control characters";
  // oxlint-disable-next-line no-control-regex -- control characters are just what must not pass
  const user = z.string({ error }).regex(/^[^:\u0000-\u001f\u007f]{1,128}$/, { error });
  return z.strictObject(
    {
      user: user.describe("Name of the user"),
      scrypt: z
        .string({ error: scryptHashAllowed })
        .refine(hasScryptForm, { error: scryptHashAllowed, abort: true })
        .refine((text) => parseScryptHash(text) !== undefined, { error: scryptCostAllowed })
        .describe("Hash of the password, as rolecall hash-password writes it"),
    },
    { error: "a mapping of user and scrypt" },
  );
}

function network(): z.ZodType<string> {
  return z.string({ error: cidrAllowed }).refine((text) => parseCidr(text) !== undefined, { error: cidrAllowed });
}

/** An origin as browsers write it: no path, no user, and not the port that its scheme has anyway. */
function webOrigin(): z.ZodType<string, string> {
  return readable({
    allowed: "an origin such as https://console.example.com or http://10.0.0.5:8080",
    pattern: /^https?:\/\/[^\s/?#@*]+$/,
    parse: originOf,
  });
}

/** Browsers write a host of letters, digits, dots and hyphens, or an IP address: what URL parsing would repair is a mistake here. */
function originOf(text: string): string | undefined {
  if (
    text.length > 300 ||
    !/^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(:[1-9]\d{0,4})?\/?$/i.test(text)
  )
    return undefined;
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

function limitsSchema(): z.ZodType<ListenerLimits> {
  const { limits } = unrestrictedAccess;
  return z
    .strictObject(
      {
        connections: integer(1, 1_000_000)
          .default(limits.connections)
          .describe(
            "Open connections. A further one is closed. The process also reserves some of its file descriptors (ulimit -n) for probes",
          ),
        connections_per_address: integer(1, 1_000_000)
          .default(limits.connectionsPerAddress)
          .describe("Open connections of one client address. A further one is closed"),
        header_timeout: duration("100ms", "10min").prefault("10s").describe("How long a request's head may take"),
        request_timeout: duration("100ms", "1h")
          .prefault("30s")
          .describe("How long a whole request may take to come in"),
        idle_timeout: duration("100ms", "1h")
          .prefault("2min")
          .describe("How long a connection may wait for its next request"),
        pipelined: integer(1, 10_000)
          .default(limits.pipelined)
          .describe("Requests of one connection that may wait for their answers. With a further one it is closed"),
        body: byteSize("0", "64MB").prefault("1MB").describe("The largest body of a management call"),
        calls_in_flight: integer(1, 1000)
          .default(limits.callsInFlight)
          .describe("Management calls of one cluster at a time"),
        call_timeout: duration("1s", "1d").prefault("10min").describe("How long a management call may take"),
        fetches: integer(1, 1000)
          .default(limits.fetches)
          .describe("Streamed /metrics and /exporter/… of one node at a time"),
      },
      { error: "a mapping of limits" },
    )
    .transform((said) => ({
      connections: said.connections,
      connectionsPerAddress: said.connections_per_address,
      headerTimeoutMs: said.header_timeout,
      requestTimeoutMs: said.request_timeout,
      idleTimeoutMs: said.idle_timeout,
      pipelined: said.pipelined,
      bodyMax: said.body,
      callsInFlight: said.calls_in_flight,
      callTimeoutMs: said.call_timeout,
      fetches: said.fetches,
    }));
}

/** A size in bytes, from `min` to `max`, both written as in the file. */
function byteSize(min: string, max: string): z.ZodType<number, string> {
  const [least = 0, most = 0] = [parseByteSize(min), parseByteSize(max)];
  return readable({
    allowed: `a size from ${min} to ${max}, such as 16kB or 1MB`,
    pattern: /^\d+(\.\d+)? ?([kMGT]?B)?$/i,
    parse: (text) => {
      const bytes = parseByteSize(text);
      return bytes !== undefined && bytes >= least && bytes <= most ? bytes : undefined;
    },
  });
}
