import type { CommandContext } from "../framework/command-context.ts";

/** `rolecall schema config|result`: the JSON Schema that documents of that kind are judged by. */
export async function schema({ args, result, print }: CommandContext): Promise<void> {
  const found =
    args.positionals[0] === "config"
      ? (await import("../../config/schema/json-schema.ts")).configJsonSchema()
      : (await import("../result/schema.ts")).resultSchema;
  result.data = found;
  print(`${JSON.stringify(found, null, 2)}\n`);
}
