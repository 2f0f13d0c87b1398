import * as z from "zod";
import { parseCheck } from "../../health/check.ts";
import { routeOf } from "../../health/route.ts";
import type { ConfiguredCheck } from "../model/config.ts";
import { parsedText } from "./value-schemas.ts";
import { weightSchema } from "./weight-schema.ts";

/** The keys of listeners with the dialect agent. */
export interface AgentFields {
  readonly check: z.ZodType<ConfiguredCheck>;
  readonly weight: ReturnType<typeof nullableWeight>;
  readonly drain_by: z.ZodType<"weight" | "state">;
}

/** The keys that only listeners with the dialect agent have. */
export function agentFields(): AgentFields {
  return {
    check: configuredCheck()
      .prefault("/replica")
      .describe("Dialect agent: the check for an agent request (HAProxy's agent-send) that names only a node"),
    weight: nullableWeight(),
    drain_by: z
      .enum(["weight", "state"], { error: "weight or state" })
      .default("weight")
      .describe(
        "Dialect agent: how a soft no (docs/reasons.md) drains a server. weight: by a weight of 0%. state: by " +
          "HAProxy's administrative state drain, with the disadvantages that docs/agent.md lists",
      ),
  };
}

function nullableWeight(): z.ZodType<z.output<ReturnType<typeof weightSchema>> | null> {
  return weightSchema()
    .nullable()
    .default(null)
    .describe("Dialect agent: how the weight of a fit server follows its lag and its warm-up. Default: 100%");
}

/** A check, as `/replica?lag=1MB`. */
export function configuredCheck(): z.ZodType<ConfiguredCheck, string> {
  return parsedText({
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
}
