import * as z from "zod";
import { parameterNames, parseCheck } from "../../health/check.ts";

const allowed = `a mapping of a check's parameters to values: ${parameterNames().join(", ")}, tag_<name>`;

/** Default parameters of checks, as a mapping; the result is the equivalent query. */
export function checkDefaults(): z.ZodType<string> {
  return z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()], { error: "a text, a number or a boolean" }), {
      error: allowed,
    })
    .transform((parameters, context) => {
      const query = new URLSearchParams(
        Object.entries(parameters).map(([key, value]): [string, string] => [key, String(value)]),
      ).toString();
      for (const [key, value] of Object.entries(parameters)) {
        const one = new URLSearchParams([[key, String(value)]]).toString();
        const read = parseCheck("replica", one, {
          ignoreParams: [],
          ignoresUnknown: false,
          defaults: "",
          lagTimeMsMin: 0,
        });
        if (!read.ok) context.addIssue({ code: "custom", path: [key], message: read.problem.allowed });
      }
      return query;
    });
}
