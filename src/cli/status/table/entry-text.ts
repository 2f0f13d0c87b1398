import type { JsonObject } from "../../../core/cluster/values/json.ts";

/** What an entry of a status document says for people: of a canary, or of a Service. */
export function entryText({ text }: JsonObject): string {
  return typeof text === "string" ? text : "?";
}
