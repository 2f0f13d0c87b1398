import { errorMessage } from "../../cluster/values/error-message.ts";
import type { Safeguard } from "./switchover-run.ts";
import type { IntentFile } from "../intent/intent-file.ts";
import type { PauseIntent } from "../intent/pause-intent.ts";

/** The file that the next process reads. With it the consoles are opened that RESUME will be sent on. */
export function intentSafeguard(
  intents: IntentFile,
  intent: PauseIntent,
  prepare: () => Promise<readonly (string | null)[]>,
): Safeguard {
  return {
    name: "intent",
    arm: async () => {
      try {
        await intents.announce(intent);
      } catch (error) {
        return errorMessage(error);
      }
      return (await prepare()).find((problem) => problem !== null) ?? null;
    },
    beat: () => {},
    disarm: () => void intents.withdraw(intent.run).catch(() => {}),
  };
}
