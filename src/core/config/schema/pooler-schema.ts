import * as z from "zod";
import { parsePoolerAddress } from "../values/pooler-address.ts";
import { tlsSchema } from "./tls-schema.ts";
import { poolReference } from "./pool-schema.ts";
import { duration, integer, name, parsedText, plainText } from "./value-schemas.ts";

/** Where the console of a PgBouncer is. */
const poolerAddressSchema = parsedText({
  allowed:
    "host:port, or the absolute path of the folder of a Unix socket, such as 127.0.0.1:6432, /run/pgbouncer or " +
    "/run/pgbouncer:6433",
  pattern: /^\/\S+$|:\d+$/,
  parse: parsePoolerAddress,
});

/**
 * A database that the configuration of PgBouncer can name, and PAUSE: its console takes at most 63 bytes with the quotes
 * that `.` and `-` need (measured with 1.18 and 1.24).
 */
function databaseName(): z.ZodType<string, string> {
  const error =
    "the name of a database in PgBouncer: 1 to 63 letters, digits and _, or 1 to 61 if . or - is among them";
  return z
    .string({ error })
    .regex(/^(?:\*|\w{1,63}|[\w.-]{1,61})$/, { error })
    .refine((text) => text !== "*", {
      error: "a database by its name: PAUSE reaches no client whose database is made from the automatic *",
    })
    .refine((text) => text !== "pgbouncer", { error: "a database: pgbouncer is the console itself" });
}

/** One entry of `poolers[].databases`. Its check is a text: what is allowed in it depends on other keys. */
export const pooledDatabaseSchema = z.strictObject(
  {
    name: databaseName().describe("Name of the database in the configuration of PgBouncer, as clients connect to it"),
    pool: poolReference("cluster and check"),
    cluster: name().nullable().default(null).describe("Cluster that it leads to. Default: the only cluster"),
    check: plainText("a route, with its parameters, such as /primary", 2048)
      .nullable()
      .default(null)
      .describe(
        "The check of the nodes that it leads to. With a file a route that at most one node passes. Default: /primary",
      ),
    file: plainText("the name of a file", 4096)
      .nullable()
      .default(null)
      .describe(
        "File that rolecall writes and PgBouncer includes (%include). Only the databases of one pooler may share it. Without " +
          "one the database leads to a balancer. Default: none",
      ),
  },
  { error: "a mapping with the keys name, pool, cluster, check and file" },
);

/** The `pgbouncer` mapping of a pooler. */
export const pgbouncerSchema = z
  .strictObject(
    {
      address: poolerAddressSchema.describe(
        "Where it listens: host:port, or the folder of its Unix socket, with :port if that is not 6432. " +
          "With so_reuseport, the folder: every process has one of its own",
      ),
      user: plainText("a user name", 63).describe("A user in admin_users of PgBouncer"),
      password_file: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe("File with the password on its first line. Default: no password"),
      tls: tlsSchema("PgBouncer").nullable().prefault(null).describe("TLS of connections to host:port"),
      processes: integer(1, 64)
        .default(1)
        .describe("How many processes share the port (so_reuseport). Each is a pooler of its own in this list"),
    },
    { error: "a mapping with the keys address, user, password_file, tls and processes" },
  )
  .transform(({ password_file: passwordFile, ...written }) => ({ ...written, passwordFile }));

const databasesAllowed = "a list of 1 to 256 databases";

/** One entry of `poolers`. */
export const poolerSchema = z
  .strictObject(
    {
      name: name().nullable().default(null).describe("Name of the pooler in metrics and logs. Default: its address"),
      pgbouncer: pgbouncerSchema.describe("The console of one PgBouncer process"),
      databases: z
        .array(pooledDatabaseSchema, { error: databasesAllowed })
        .min(1, { error: databasesAllowed })
        .max(256, { error: databasesAllowed })
        .describe("The databases of PgBouncer that lead to the clusters"),
      pause_limit: duration("100ms", "1min")
        .prefault("3s")
        .describe("How long PAUSE may wait for open transactions before a seamless switchover is given up"),
      hold_on_loss: duration("2s", "10min")
        .nullable()
        .default(null)
        .describe(
          "Hold clients without a server, until a primary is accepted, for this long at most. At least 5 s below " +
            "query_wait_timeout and query_timeout of PgBouncer. Needs state_file. The same for all poolers of a cluster. " +
            "Default: not at all",
        ),
      hold_end: z
        .enum(["wait", "fail"], { error: "wait or fail" })
        .default("wait")
        .describe("Clients that still wait when hold_on_loss is over wait until query_wait_timeout, or are cut"),
    },
    { error: "a mapping with the keys name, pgbouncer, databases, pause_limit, hold_on_loss and hold_end" },
  )
  .transform(({ pause_limit: pauseLimitMs, hold_on_loss: holdOnLossMs, hold_end: holdEnd, ...written }) => ({
    ...written,
    pauseLimitMs,
    holdOnLossMs,
    holdEnd,
  }));
