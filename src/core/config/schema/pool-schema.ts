import * as z from "zod";
import { companionsMax } from "../../cluster/values/companion-name.ts";
import { companionName } from "./companion-schema.ts";
import { integer, list, name, plainText, zoneName } from "./value-schemas.ts";
import { weightSchema } from "./weight-schema.ts";

/** What a check must be that decides which servers get clients. */
export const checkAllowed = "a route of a check with its parameters, such as /replica?lag=10MB";

/** One entry of `pools`. Its check is a text: what is allowed in it depends on other keys. */
export const poolSchema = z.strictObject(
  {
    name: name().describe("Name of the pool, which balancers, poolers and agent listeners refer to"),
    cluster: name().nullable().default(null).describe("Cluster of the pool's nodes. Default: the only cluster"),
    check: plainText(checkAllowed, 2048).describe(
      "The check that a node of the pool passes: /primary, or /replica?lag=10MB&lag_time=10s",
    ),
    min: integer(1, 1000)
      .nullable()
      .default(null)
      .describe("How many of the least lagging nodes a limit of lag never removes, as keep= of a check. Default: none"),
    zones: list(zoneName(), 16).describe(
      "Zones whose nodes are preferred, as zone= of a check: nodes elsewhere get clients only while none of these is fit. Default: none",
    ),
    with: list(companionName(), companionsMax).describe(
      "Companions that must answer beside a node, as with= of a check. Default: none",
    ),
    weight: weightSchema
      .nullable()
      .prefault(null)
      .describe("How the weights of the pool's servers follow lag and warm-up. Default: weights stay as they are"),
  },
  { error: "a mapping with the keys name, cluster, check, min, zones, with and weight" },
);

/** The `pool` key of what refers to a pool. @param others the keys that it takes the place of */
export function poolReference(others: string): z.ZodType<string | null, string | null | undefined> {
  return name().nullable().default(null).describe(`Name of an entry of pools, in place of ${others}`);
}
