import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { Safeguard } from "./switchover-run.ts";
import type { IntentFile } from "../intent/intent-file.ts";
import type { LoweredSetting, PauseIntent } from "../intent/pause-intent.ts";

/** What the safeguard needs beside the file. */
interface IntentParts {
  /** Opens the consoles. @returns for each why it cannot be used; `null` if it can */
  readonly prepare: () => Promise<readonly (string | null)[]>;
  /** Resolves when the claim of the run is on the disk. @returns why it is not; `null` if it is */
  readonly claimed: () => Promise<string | null>;
  /** The settings that the run lowers before RESUME, as they were read with the consoles. */
  readonly lowered: () => readonly LoweredSetting[];
  /** In ms since the epoch. */
  readonly wall: () => number;
}

/** The file that the next process reads. With it the consoles are opened that PAUSE and RESUME will be sent on. */
export function intentSafeguard(
  intents: IntentFile,
  intent: () => PauseIntent,
  { prepare, claimed, lowered, wall }: IntentParts,
): Safeguard {
  let isOver = false;
  return {
    name: "intent",
    arm: async () => {
      const problem = (await prepare()).find((found) => found !== null) ?? null;
      if (problem !== null || isOver) return problem ?? "it was too late";
      const [written, unclaimed] = await Promise.all([problemOf(intents.announce(intent(), lowered())), claimed()]);
      return written ?? unclaimed;
    },
    tell: (leftMs) => problemOf(intents.request(intent().run, wall() + leftMs)),
    beat: () => {},
    disarm: (left) => {
      isOver = true;
      void intents
        .retain(
          intent().run,
          left.flatMap((at) => intent().targets[at] ?? []),
        )
        .catch(() => {});
    },
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
