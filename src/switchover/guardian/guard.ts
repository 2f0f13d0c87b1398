import { errorMessage } from "../../cluster/values/error-message.ts";
import type { CancelTimer, SetTimer } from "../../cluster/timer.ts";
import { TargetResumer } from "../hands/resume-target.ts";
import { pauseName } from "../machine/plan.ts";
import type { FromGuardian, ToGuardian } from "./messages.ts";

/** What a guard depends on. */
export interface GuardContext {
  readonly setTimer: SetTimer;
  readonly send: (message: FromGuardian) => void;
  /** Nothing is left to do. */
  readonly onEnd: () => void;
}

/** How long the main process may be silent, in ms. */
const silenceMs = 1_000;
/** How often an unverified RESUME is repeated, in ms. */
const repeatMs = 250;
/** Of each step with a console, in ms. */
const commandMs = 1_000;
/** How long RESUME is repeated, in ms. A PgBouncer that is gone for so long is not paused when it runs again. */
const resumingMaxMs = 3_600_000;
/** Until the first console is open, in ms: a new process has to load what speaks to it. */
const openMs = 3_000;

type Phase = "new" | "guarding" | "resuming" | "over";

/**
 * Resumes what the main process has paused, if that process ends, says nothing for a second, or misses the deadline.
 * Its consoles are open before anything is paused.
 */
export class Guard {
  readonly #context: GuardContext;
  #phase: Phase = "new";
  #resumers: readonly TargetResumer[] = [];
  #open: ReadonlySet<number> = new Set();
  #cancelSilence: CancelTimer | null = null;
  #cancelDeadline: CancelTimer | null = null;

  constructor(context: GuardContext) {
    this.#context = context;
  }

  receive(message: ToGuardian): void {
    if (this.#phase === "resuming" || this.#phase === "over") return;
    if (message.kind === "end") this.#end();
    else if (message.kind === "guard") void this.#begin(message);
    else this.#hear(message);
  }

  /** The main process has ended. */
  mainEnded(): void {
    this.#takeOver("the main process ended");
  }

  async #begin({ run, targets, leftMs }: Extract<ToGuardian, { readonly kind: "guard" }>): Promise<void> {
    this.#phase = "guarding";
    this.#resumers = targets.map(({ database, console }) => new TargetResumer({ run, database, console }, commandMs));
    const problems = await Promise.all(
      this.#resumers.map(async (resumer, at) => {
        const target = targets[at] ?? { pooler: "", database: "" };
        try {
          await resumer.console(openMs);
          return [];
        } catch (error) {
          return [`${pauseName(target)}: ${errorMessage(error)}`];
        }
      }),
    );
    const [problem] = problems.flat();
    if (this.#phase !== "guarding") return;
    if (problem !== undefined) {
      this.#context.send({ kind: "problem", problem });
      return this.#end();
    }
    this.#hear({ kind: "beat", open: [...targets.keys()], leftMs });
    this.#context.send({ kind: "ready" });
  }

  #hear({ open, leftMs }: Extract<ToGuardian, { readonly kind: "beat" }>): void {
    this.#open = new Set(open);
    this.#cancelSilence?.();
    this.#cancelDeadline?.();
    const { setTimer } = this.#context;
    this.#cancelSilence = setTimer(() => this.#takeOver(`no sign of life for ${silenceMs / 1_000} s`), silenceMs);
    this.#cancelDeadline = setTimer(() => this.#takeOver("the deadline"), leftMs);
  }

  #takeOver(why: string): void {
    if (this.#phase === "resuming" || this.#phase === "over") return;
    this.#phase = "resuming";
    this.#cancelSilence?.();
    this.#cancelDeadline?.();
    this.#context.send({ kind: "taken_over", why });
    this.#cancelDeadline = this.#context.setTimer(() => this.#end(), resumingMaxMs);
    const open = this.#resumers.filter((_, at) => this.#open.has(at));
    void Promise.all(open.map((resumer) => this.#resumeUntilVerified(resumer))).then(() => this.#end());
  }

  async #resumeUntilVerified(resumer: TargetResumer): Promise<void> {
    while (this.#phase === "resuming" && (await resumer.resume()) !== null)
      await new Promise<void>((resolve) => void this.#context.setTimer(resolve, repeatMs));
  }

  #end(): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.#cancelSilence?.();
    this.#cancelDeadline?.();
    for (const resumer of this.#resumers) resumer.close();
    this.#context.onEnd();
  }
}
