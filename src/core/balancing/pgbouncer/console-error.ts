import { withoutUnsafe } from "../../cluster/values/unsafe-text.ts";

/** PgBouncer quotes what clients sent. */
const messageMax = 500;

/**
 * Why a console gave no answer.
 * `refused`: PgBouncer answered with an error, whose text is the message. `absent`: nobody takes connections there.
 * `lost`: there is no connection, or it ended. `late`: no complete answer in time. `unusable`: what came is no answer of a
 * console, or too large.
 */
export type ConsoleFailure = "refused" | "absent" | "lost" | "late" | "unusable";

/** A console that gave no answer. The message continues a sentence, and is safe in a log. */
export class ConsoleError extends Error {
  readonly kind: ConsoleFailure;

  constructor(kind: ConsoleFailure, message: string) {
    super(withoutUnsafe(message.slice(0, messageMax)));
    this.name = "ConsoleError";
    this.kind = kind;
  }
}

/**
 * Waits for the answer to a command that PgBouncer may refuse.
 * @returns the error that PgBouncer answered; `null` if the command succeeded
 * @throws ConsoleError of another kind
 */
export async function refusalOf(answer: Promise<unknown>): Promise<string | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (error instanceof ConsoleError && error.kind === "refused") return error.message;
    throw error;
  }
}
