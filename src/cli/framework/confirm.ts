import { createInterface } from "node:readline/promises";
import { CommandError } from "./command.ts";
import type { CommandContext } from "./command-context.ts";

/**
 * Asks a person before a change; `--yes` and `--dry-run` do not ask. Without a terminal nobody can say yes.
 * @throws Stop (RC008) where it was not confirmed
 */
export async function confirm({ args, io, format, signal }: CommandContext, what: string): Promise<void> {
  if (args.has("yes") || args.has("dry-run")) return;
  if (io.stdin.isTTY !== true || !io.stderr.isTerminal || format === "json")
    throw new CommandError("RC008", `${what}: nobody is asked without a terminal; pass --yes`);
  const asking = createInterface({ input: io.stdin });
  await io.stderr.write(`${what}. Go ahead? [y/N] `);
  try {
    const answer = await new Promise<string>((resolve) => {
      asking.once("line", resolve);
      asking.once("close", () => resolve(""));
      signal.addEventListener("abort", () => resolve(""), { once: true });
    });
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new CommandError("RC008", `${what}: not confirmed, nothing was done`);
  } finally {
    asking.close();
  }
}
