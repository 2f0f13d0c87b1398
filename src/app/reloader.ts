/** Reads the configuration again, one reload after the other, whoever asks for it: a signal, or a listener of the exporter dialect. */
export class Reloader {
  readonly #reload: () => Promise<string | null>;
  #running: Promise<string | null> | null = null;
  #next: Promise<string | null> | null = null;

  /** @param reload must not throw. @returns why it came to nothing, or `null` */
  constructor(reload: () => Promise<string | null>) {
    this.#reload = reload;
  }

  /** Reloads, after the reload that is under way. Who asks while another waits already gets that one: it has yet to read. */
  reload(): Promise<string | null> {
    if (this.#running === null) return this.#run();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#run();
    });
    return this.#next;
  }

  #run(): Promise<string | null> {
    this.#running = this.#reload().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }
}
