import type { Sink } from "./io.ts";

/** Progress is shown for commands that take longer than this, in ms. */
const delayMs = 1_000;

const eraseLine = "\r\u001b[K";

/** `never`: the output is for a program. With a timer: it is shown when that fires. */
type ProgressState = "never" | "idle" | "visible" | { readonly timer: NodeJS.Timeout };

/** Shows the current step of a slow command on stderr if that is a terminal. The line is erased at the end. */
export class Progress {
  readonly #sink: Sink;
  #text = "";
  #state: ProgressState;

  /** @param isShown whether to show progress at all: false if the output is for a program */
  constructor(sink: Sink, isShown: boolean) {
    this.#sink = sink;
    this.#state = isShown && sink.isTerminal ? "idle" : "never";
  }

  /** Shows the current step, in a few words. */
  report(text: string): void {
    this.#text = text;
    if (this.#state === "visible") this.#show();
    if (this.#state === "idle") this.#state = { timer: setTimeout(() => this.#show(), delayMs).unref() };
  }

  done(): void {
    if (this.#state === "never") return;
    if (this.#state === "visible") void this.#sink.draw(eraseLine);
    else if (this.#state !== "idle") clearTimeout(this.#state.timer);
    this.#state = "idle";
  }

  #show(): void {
    this.#state = "visible";
    void this.#sink.draw(eraseLine);
    void this.#sink.write(this.#text);
  }
}
