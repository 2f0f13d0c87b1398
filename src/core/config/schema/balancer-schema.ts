import * as z from "zod";
import { parseHostPort } from "../values/address.ts";
import { duration, flag, name, parsedText, plainText, zoneName } from "./value-schemas.ts";
import { checkAllowed, poolReference } from "./pool-schema.ts";
import { weightSchema } from "./weight-schema.ts";

/** Where the Runtime API of HAProxy is. */
export const runtimeAddressSchema = parsedText({
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

/** What rolecall decides itself, or what would let a server get sessions before a check. */
const wordsExcluded = ["id", "track", "agent-check", "no-check", "disabled", "enabled"];

/** Words of a server in the configuration of HAProxy. None of them can end a command. */
function serverWords(): z.ZodType<string, string> {
  const error =
    "words of a server with check, such as check inter 500ms rise 2 fall 3, without quotes, weight 0, " +
    wordsExcluded.join(", ");
  const word = String.raw`[\w.:/@,+=%*()[\]-]+`;
  const excluded = `(?:${wordsExcluded.join("|")}|weight 0+)`;
  return z
    .string({ error })
    .regex(new RegExp(`^(?=(?:.* )?check(?: |$))(?!(?:.* )?${excluded}(?: |$))${word}(?: ${word}){0,99}$`), { error });
}

/** One entry of `backends`. Its check is a text: what is allowed in it depends on other keys. */
export const backendSchema = z
  .strictObject(
    {
      name: haproxyName().describe("Name of the backend in the configuration of HAProxy"),
      pool: poolReference("cluster, check and weight"),
      cluster: name().nullable().default(null).describe("Cluster of the backend's servers. Default: the only cluster"),
      check: plainText(checkAllowed, 2048)
        .nullable()
        .default(null)
        .describe(
          "The check of the backend's servers, as HAProxy sends it but without the node: /primary or /replica?lag=10MB&miss=404. " +
            "Required without pool",
        ),
      servers: z
        .record(haproxyName(), name(), { error: "a mapping of HAProxy's server names to node names" })
        .nullable()
        .default(null)
        .describe("The node of each server. Default: every server has the name of its node"),
      follow_members: serverWords()
        .nullable()
        .default(null)
        .describe(
          "Adds a server for each member of the cluster that HAProxy has none for, with these words: those of the backend's " +
            "default-server, such as check inter 500ms rise 2 fall 3. Needs HAProxy 2.6 or later. Default: rolecall adds no servers",
        ),
      inter: duration("1ms", "1h")
        .nullable()
        .default(null)
        .describe(
          "Time between two checks of a server (inter of HAProxy), which the audit cannot read. Default: that of " +
            "follow_members, else 2s, HAProxy's default",
        ),
      weight: weightSchema
        .nullable()
        .prefault(null)
        .describe(
          "How the weights of the backend's servers follow lag and warm-up. They are percentages of the weights in the " +
            "configuration of HAProxy: write 100 there. Default: weights stay as they are",
        ),
    },
    { error: "a mapping with the keys name, pool, cluster, check, servers, follow_members, inter and weight" },
  )
  .transform(({ follow_members: followMembers, inter: interMs, ...written }) => ({
    ...written,
    followMembers,
    interMs,
  }));

const backendsAllowed = "a list of 1 to 256 backends";

const haproxySchema = z
  .strictObject(
    {
      socket: runtimeAddressSchema.describe(
        "Runtime API of this HAProxy: the path of the stats socket or host:port. The socket needs level admin",
      ),
      cut_sessions: flag()
        .default(true)
        .describe(
          "Whether the sessions of a server are closed when its node is superseded, a stray primary, or demoted while another node leads",
        ),
      zone: zoneName()
        .nullable()
        .default(null)
        .describe(
          "Zone of this HAProxy. It is zone= of the check of each backend for reads that names no zone. " +
            "The checks in HAProxy must have it too. Default: none",
        ),
      backends: z
        .array(backendSchema, { error: backendsAllowed })
        .min(1, { error: backendsAllowed })
        .max(256, { error: backendsAllowed })
        .describe("The backends whose servers follow the verdicts"),
    },
    { error: "a mapping with the keys socket, zone, backends and cut_sessions" },
  )
  .transform(({ cut_sessions: cutSessions, ...written }) => ({ ...written, cutSessions }));

/** One entry of `balancers`. */
export const balancerSchema = z.strictObject(
  {
    name: name()
      .nullable()
      .default(null)
      .describe("Name of the balancer in metrics and logs. Default: the value of socket"),
    haproxy: haproxySchema.describe("An HAProxy, and how its servers follow the verdicts of rolecall"),
  },
  { error: "a mapping with the keys name and haproxy" },
);
