import * as z from "zod";
import { parseCheck } from "../../health/check.ts";
import { routeOf } from "../../health/route.ts";
import { parsedText } from "./value-schemas.ts";
import { weightSchema } from "./weight-schema.ts";

/** A check, as `/replica?lag=1MB`. */
const checkSchema = parsedText({
  allowed: "a check such as /replica?lag=1MB: a route and its parameters",
  pattern: /^\/[^?\s]*(\?\S*)?$/,
  parse: (text) => {
    const [path = "", ...queries] = text.slice(1).split("?");
    const [route, query] = [routeOf(path), queries.join("?")];
    if (route === undefined) return undefined;
    const rules = { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 };
    return parseCheck(route, query, rules).ok ? { route, query } : undefined;
  },
});

/** The keys that only listeners with the dialect agent have. */
export const agentFields = {
  check: checkSchema
    .prefault("/replica")
    .describe("Dialect agent: the check for an agent request (HAProxy's agent-send) that names only a node"),
  weight: weightSchema
    .nullable()
    .default(null)
    .describe("Dialect agent: how the weight of a fit server follows its lag and its warm-up. Default: 100%"),
  drain_by: z
    .enum(["weight", "state"], { error: "weight or state" })
    .default("weight")
    .describe(
      "Dialect agent: how a soft no (docs/reasons.md) drains a server. weight: by a weight of 0%. state: by " +
        "HAProxy's administrative state drain, with the disadvantages that docs/agent.md lists",
    ),
};
