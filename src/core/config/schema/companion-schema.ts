import * as z from "zod";
import { companionKinds } from "../../cluster/companion.ts";
import { companionAllowed, companionPattern } from "../../cluster/values/companion-name.ts";
import { integer } from "./value-schemas.ts";

/** The name of a companion. */
export function companionName(): z.ZodType<string, string> {
  return z.string({ error: companionAllowed }).regex(companionPattern, { error: companionAllowed });
}

const pathAllowed = "a path such as /health: a slash, then up to 1023 printable characters without spaces";

/** One entry of `clusters[].companions`. */
export const companionSchema = z.strictObject(
  {
    name: companionName().describe("Name of the companion, by which checks ask for it (with=)"),
    port: integer(1, 65_535).describe(
      "Port where it listens beside each node: on the host of the node's database or, while that is not known, of its API",
    ),
    kind: z
      .enum(companionKinds, { error: "tcp, pgbouncer or http" })
      .default("tcp")
      .describe(
        "What is an answer. tcp: a connection. pgbouncer: what PgBouncer answers to an SSLRequest. http: a status from 200 to 299",
      ),
    path: z
      .string({ error: pathAllowed })
      .regex(/^\/[\x21-\x7e]{0,1023}$/, { error: pathAllowed })
      .nullable()
      .default(null)
      .describe("Kind http: what is requested. Default: /"),
  },
  { error: "a mapping with the keys name, port, kind and path" },
);
