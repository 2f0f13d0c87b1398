import type { Sink } from "./io.ts";

/** How long a command may be silent before it says what it is doing, in ms. */
const patienceMs = 1_000;

/** Says on a terminal's stderr what is being done, once that has taken a second; the line is wiped at the end. */
export class Progress {
  readonly #sink: Sink;
  readonly #isShown: boolean;
  #text = "";
  #timer: NodeJS.Timeout | null = null;
  #isVisible = false;

  /** @param isShown whether anybody is to see it: not where output is for a program */
  constructor(sink: Sink, isShown: boolean) {
    this.#sink = sink;
    this.#isShown = isShown && sink.isTerminal;
  }

  /** What is being done now, in a few words. */
  say(text: string): void {
    this.#text = text;
    if (!this.#isShown) return;
    if (this.#isVisible) void this.#sink.write(`\r\u001b[K${text}`);
    else
      this.#timer ??= setTimeout(() => {
        this.#isVisible = true;
        void this.#sink.write(`\r\u001b[K${this.#text}`);
      }, patienceMs).unref();
  }

  done(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isVisible) void this.#sink.write("\r\u001b[K");
    this.#isVisible = false;
  }
}
