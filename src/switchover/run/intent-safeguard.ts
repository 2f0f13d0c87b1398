import { errorMessage } from "../../cluster/values/error-message.ts";
import type { Safeguard } from "./switchover-run.ts";
import type { IntentFile } from "../intent/intent-file.ts";
import type { PauseIntent } from "../intent/pause-intent.ts";

/** The file that the next process reads. With it the consoles are opened that PAUSE and RESUME will be sent on. */
export function intentSafeguard(
  intents: IntentFile,
  intent: () => PauseIntent,
  prepare: () => Promise<readonly (string | null)[]>,
): Safeguard {
  return {
    name: "intent",
    arm: async () => {
      const problem = await problemOf(intents.announce(intent()));
      return problem ?? (await prepare()).find((found) => found !== null) ?? null;
    },
    tell: () => problemOf(intents.request(intent().run)),
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
