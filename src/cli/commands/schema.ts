import type { CommandContext } from "../../core/command/framework/command-context.ts";

/** `rolecall result schema config|result`: prints a JSON Schema. */
export async function schema({ args, result, print }: CommandContext): Promise<void> {
  const document =
    args.positionals[0] === "config"
      ? (await import("../../app/registry/config.ts")).configJsonSchema()
      : (await import("../../core/command/result/schema.ts")).resultSchema;
  result.data = document;
  print(`${JSON.stringify(document, null, 2)}\n`);
}
