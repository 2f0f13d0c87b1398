import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { CommandContext } from "./command-context.ts";
import { CommandError } from "./command-error.ts";

/** How often the two entries may differ. */
const attemptsMax = 3;

/**
 * Reads a password: on a terminal twice and without showing it, else the first line of stdin. The terminal is as before
 * afterwards, also after Ctrl-C or a signal.
 * @throws CommandError (RC004) after Ctrl-C, (RC001) if the two entries differ again and again
 */
export async function readPassword({ io, signal }: Pick<CommandContext, "io" | "signal">): Promise<string> {
  if (io.stdin.isTTY !== true) return firstLine(io.stdin);
  // With an output of its own, which shows nothing, the line editor of a terminal hides what is typed.
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: hidden, terminal: true, historySize: 0 });
  const restore = (): void => lines.close();
  signal.addEventListener("abort", restore, { once: true });
  const ask = async (prompt: string): Promise<string> => {
    await io.stderr.write(prompt);
    const line = await nextLine(lines);
    await io.stderr.write("\n");
    if (line === null) throw new CommandError("RC004", "Cannot read the password: the input ended");
    return line;
  };
  try {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const password = await ask("Password: ");
      if (password === "" || (await ask("The same again: ")) === password) return password;
      await io.stderr.write("The two passwords differ.\n");
    }
    throw new CommandError(
      "RC001",
      `Cannot use the password: both entries must be equal, ${attemptsMax} attempts failed`,
    );
  } finally {
    signal.removeEventListener("abort", restore);
    lines.close();
  }
}

/** The next line; `null` after Ctrl-C or Ctrl-D, or when the input ends. */
function nextLine(lines: Interface): Promise<string | null> {
  return new Promise((resolve) => {
    const onLine = (line: string): void => finish(line);
    const onEnd = (): void => finish(null);
    const finish = (line: string | null): void => {
      lines.off("line", onLine).off("close", onEnd).off("SIGINT", onEnd);
      resolve(line);
    };
    lines.on("line", onLine).on("close", onEnd).on("SIGINT", onEnd);
  });
}

async function firstLine(input: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return "";
}
