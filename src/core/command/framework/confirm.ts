import { createInterface } from "node:readline/promises";
import { CommandError } from "./command-error.ts";
import type { CommandContext } from "./command-context.ts";

/**
 * Asks the user to confirm a change. Does not ask with `--yes` or `--dry-run`.
 * @param change what will happen, as a sentence without its full stop
 * @throws CommandError (RC008) if the user did not confirm, or if there is no terminal to ask on
 */
export async function confirm({ args, io, format, signal }: CommandContext, change: string): Promise<void> {
  if (args.has("yes") || args.has("dry-run")) return;
  if (io.stdin.isTTY !== true || !io.stderr.isTerminal || format !== "text")
    throw new CommandError("RC008", `${change}: cannot ask for confirmation without a terminal; pass --yes`);
  const lines = createInterface({ input: io.stdin });
  await io.stderr.write(`${change}. Continue? [y/N] `);
  try {
    const answer = await new Promise<string>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(""));
      signal.addEventListener("abort", () => resolve(""), { once: true });
    });
    if (!/^y(?:es)?$/i.test(answer.trim()))
      throw new CommandError("RC008", `${change}: not confirmed, nothing was changed`);
  } finally {
    lines.close();
  }
}
