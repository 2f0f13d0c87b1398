import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { Safeguard } from "./switchover-run.ts";
import type { IntentFile } from "../intent/intent-file.ts";
import type { PauseIntent } from "../intent/pause-intent.ts";

/** What the safeguard needs beside the file. */
interface IntentParts {
  /** Opens the consoles. @returns for each why it cannot be used; `null` if it can */
  readonly prepare: () => Promise<readonly (string | null)[]>;
  /** In ms since the epoch. */
  readonly wall: () => number;
}

/** The file that the next process reads. With it the consoles are opened that PAUSE and RESUME will be sent on. */
export function intentSafeguard(
  intents: IntentFile,
  intent: () => PauseIntent,
  { prepare, wall }: IntentParts,
): Safeguard {
  return {
    name: "intent",
    arm: async () => {
      const problem = await problemOf(intents.announce(intent()));
      return problem ?? (await prepare()).find((found) => found !== null) ?? null;
    },
    tell: (leftMs) => problemOf(intents.request(intent().run, wall() + leftMs)),
    beat: () => {},
    disarm: (left) =>
      void intents
        .retain(
          intent().run,
          left.flatMap((at) => intent().targets[at] ?? []),
        )
        .catch(() => {}),
  };
}

async function problemOf(written: Promise<void>): Promise<string | null> {
  try {
    await written;
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}
