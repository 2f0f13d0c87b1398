import type { Sink } from "./io.ts";

/** Progress is shown for commands that take longer than this, in ms. */
const delayMs = 1_000;

const eraseLine = "\r\u001b[K";

/** Shows the current step of a slow command on stderr if that is a terminal. The line is erased at the end. */
export class Progress {
  readonly #sink: Sink;
  readonly #isShown: boolean;
  #text = "";
  #timer: NodeJS.Timeout | null = null;
  #isVisible = false;

  /** @param isShown whether to show progress at all: false if the output is for a program */
  constructor(sink: Sink, isShown: boolean) {
    this.#sink = sink;
    this.#isShown = isShown && sink.isTerminal;
  }

  /** Shows the current step, in a few words. */
  report(text: string): void {
    this.#text = text;
    if (!this.#isShown) return;
    if (this.#isVisible) this.#show();
    else
      this.#timer ??= setTimeout(() => {
        this.#isVisible = true;
        this.#show();
      }, delayMs).unref();
  }

  done(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isVisible) void this.#sink.draw(eraseLine);
    this.#isVisible = false;
  }

  #show(): void {
    void this.#sink.draw(eraseLine);
    void this.#sink.write(this.#text);
  }
}
