import type { Session } from "./session.ts";

/** `rolecall schema config|result`: the JSON Schema that documents of that kind are judged by. */
export async function schema({ args, result, print }: Session): Promise<void> {
  const found =
    args.positionals[0] === "config"
      ? (await import("../config/json-schema.ts")).configJsonSchema()
      : (await import("./result/schema.ts")).resultSchema;
  result.data = found;
  print(`${JSON.stringify(found, null, 2)}\n`);
}
