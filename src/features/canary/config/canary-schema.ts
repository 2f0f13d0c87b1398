import * as z from "zod";
import type { Frozen } from "../../../core/config/model/config.ts";
import { tlsSchema } from "../../../core/config/schema/tls-schema.ts";
import { duration, list, name, parsedText, plainText, whenValid } from "../../../core/config/schema/value-schemas.ts";
import { parseCanaryAddress } from "./canary-address.ts";

const urlAllowed =
  "postgres://user@host:port/database without parameters, such as postgres://canary@lb:5000/app, and without a " +
  "password, which belongs in password_file";

/** The most canaries of a cluster. */
export const canariesMax = 16;

/** One entry of `clusters[].canaries`. */
export const canarySchema = z
  .strictObject(
    {
      pool: name().describe(
        "Name of a pool of this cluster. Its check decides what is tried: a write for /primary and /leader, else a read",
      ),
      url: parsedText({
        allowed: urlAllowed,
        pattern: /^postgres(ql)?:\/\/[^:@/?#]+@/,
        parse: parseCanaryAddress,
      }).describe(
        "Where its clients connect, as postgres://user@host:port/database. In place of the host the folder of a Unix " +
          "socket, with %2F for /",
      ),
      interval: duration("1s", "10min").prefault("5s").describe("Time between two tries, give or take a tenth"),
      timeout: duration("100ms", "1min")
        .prefault("2s")
        .describe("Time limit of a try, from its connection to its commit. At most interval"),
      password_file: plainText("the name of a file", 4096)
        .nullable()
        .default(null)
        .describe(
          "File with the password on its first line. In clear text it goes to this machine or over TLS only. Default: no password",
        ),
      tls: tlsSchema("database server")
        .nullable()
        .prefault(null)
        .describe("TLS of the connection. Without it the connection has none"),
    },
    { error: "a mapping with the keys pool, url, interval, timeout, password_file and tls" },
  )
  .superRefine(
    ({ interval, timeout }, context) => {
      if (timeout > interval)
        context.addIssue({ code: "custom", path: ["timeout"], message: "a duration that is at most interval" });
    },
    whenValid("interval", "timeout"),
  )
  .superRefine(
    ({ url, tls }, context) => {
      if (tls !== null && "folder" in url.address)
        context.addIssue({ code: "custom", path: ["tls"], message: "null, because the address is a Unix socket" });
    },
    whenValid("url", "tls"),
  )
  .transform(({ interval: intervalMs, timeout: timeoutMs, password_file: passwordFile, ...written }) => ({
    ...written,
    intervalMs,
    timeoutMs,
    passwordFile,
  }));

/** The key of each entry of `clusters`. */
export const canaryKeys = {
  canaries: list(canarySchema, canariesMax).describe(
    "Connections that rolecall makes as clients do, to see whether they are served (docs/canaries.md)",
  ),
};

/** A connection that is tried as clients make it. Files are absolute paths. */
export type CanaryConfig = Frozen<z.output<typeof canarySchema>>;

declare module "../../../core/config/model/config.ts" {
  interface FeatureClusterConfigs {
    readonly canaries: readonly CanaryConfig[];
  }
}
