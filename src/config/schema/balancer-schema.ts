import * as z from "zod";
import type { HaproxyBackendConfig, HaproxyConfig, RuntimeAddress } from "../model/balancer-config.ts";
import { parseHostPort } from "../values/address.ts";
import { flag, name, parsedText, plainText } from "./value-schemas.ts";
import { weightSchema } from "./weight-schema.ts";

/** One entry of `balancers` as parsed by the schema. */
export interface BalancerShape {
  /** `null` if the key is missing: the socket names it. */
  readonly name: string | null;
  readonly haproxy: Omit<HaproxyConfig, "backends"> & { readonly backends: readonly BackendShape[] };
}

/** One entry of `backends`. Its check is a text: what is allowed in it depends on other keys. */
export interface BackendShape extends Omit<HaproxyBackendConfig, "cluster" | "check"> {
  /** `null` if the key is missing: the only cluster. */
  readonly cluster: string | null;
  readonly check: string;
}

/** Where the Runtime API of HAProxy is. */
export const runtimeAddressSchema: z.ZodType<RuntimeAddress, string> = parsedText({
  allowed: "the absolute path of a socket of at most 107 bytes, or host:port, such as /run/haproxy/admin.sock",
  pattern: /^\/\S+$|:\d+$/,
  parse: (text) => {
    if (text.startsWith("/")) return isSocketPath(text) ? { path: text } : undefined;
    const address = parseHostPort(text);
    return address !== undefined && address.port > 0 ? address : undefined;
  },
});

/** A Unix socket's path has at most 107 bytes on Linux. */
function isSocketPath(text: string): boolean {
  return Buffer.byteLength(text) <= 107 && !/[\s\0]/.test(text);
}

/** A name that HAProxy accepts for a backend or a server. Nothing in it can end a command. */
function haproxyName(): z.ZodType<string, string> {
  const error = "a name of HAProxy: 1 to 128 letters, digits, and the characters . : _ -";
  return z.string({ error }).regex(/^[\w.:-]{1,128}$/, { error });
}

/** One entry of `backends`. */
export const backendSchema: z.ZodType<BackendShape> = z.strictObject(
  {
    name: haproxyName().describe("Name of the backend in the configuration of HAProxy"),
    cluster: name().nullable().default(null).describe("Cluster of the backend's servers. Default: the only cluster"),
    check: plainText("a route of a check with its parameters, such as /replica?lag=10MB", 2048).describe(
      "The check of the backend's servers, as HAProxy sends it but without the node: /primary or /replica?lag=10MB&miss=404",
    ),
    servers: z
      .record(haproxyName(), name(), { error: "a mapping of HAProxy's server names to node names" })
      .nullable()
      .default(null)
      .describe("The node of each server. Default: every server has the name of its node"),
    weight: weightSchema()
      .nullable()
      .prefault(null)
      .describe(
        "How the weights of the backend's servers follow lag and warm-up. They are percentages of the weights in the " +
          "configuration of HAProxy: write 100 there. Default: weights stay as they are",
      ),
  },
  { error: "a mapping with the keys name, cluster, check, servers and weight" },
);

function haproxySchema(): z.ZodType<BalancerShape["haproxy"]> {
  return z
    .strictObject(
      {
        socket: runtimeAddressSchema.describe(
          "Runtime API of this HAProxy: the path of the stats socket or host:port. The socket needs level admin",
        ),
        cut_sessions: flag()
          .default(false)
          .describe(
            "Whether the sessions of a server are closed when its node is superseded, or demoted while another node leads",
          ),
        backends: backendsSchema().describe("The backends whose servers follow the verdicts"),
      },
      { error: "a mapping with the keys socket, backends and cut_sessions" },
    )
    .transform(({ cut_sessions: cutSessions, ...written }) => ({ ...written, cutSessions }));
}

function backendsSchema(): z.ZodType<readonly BackendShape[]> {
  const error = "a list of 1 to 256 backends";
  return z.array(backendSchema, { error }).min(1, { error }).max(256, { error });
}

/** One entry of `balancers`. */
export const balancerSchema: z.ZodType<BalancerShape> = z.strictObject(
  {
    name: name()
      .nullable()
      .default(null)
      .describe("Name of the balancer in metrics and logs. Default: the value of socket"),
    haproxy: haproxySchema().describe("An HAProxy, and how its servers follow the verdicts of rolecall"),
  },
  { error: "a mapping with the keys name and haproxy" },
);
