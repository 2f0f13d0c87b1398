import * as z from "zod";
import { duration, integer } from "./value-schemas.ts";

const noneError = "a duration greater than full";

/** A `weight` mapping: how the weight of servers in a read pool follows their lag in time and their warm-up. */
export const weightSchema = z
  .strictObject(
    {
      full: duration("0s", "1h").prefault("1s").describe("Up to this lag, a server has its full weight (100%)"),
      none: duration("1ms", "1d")
        .prefault("10s")
        .describe("From this lag on, a server has only the lowest weight (floor). Greater than full"),
      floor: integer(1, 50).default(1).describe("The lowest weight in percent, at least 1"),
      warm_up: duration("0s", "1h")
        .prefault("0s")
        .describe("How long the weight rises from 10% after PostgreSQL restarted. 0s: no warm-up"),
    },
    { error: "a mapping with the keys full, none, floor and warm_up" },
  )
  .transform(({ full, none, floor, warm_up: warmUpMs }, context) => {
    if (none <= full) context.addIssue({ code: "custom", path: ["none"], message: noneError });
    return { fullMs: full, noneMs: none, floor, warmUpMs };
  });
