/** Progress is shown for commands that take longer than this, in ms. */
const delayMs = 1_000;
/** Shows the current step of a slow command on stderr if that is a terminal. The line is erased at the end. */
export class Progress {
    #sink;
    #isShown;
    #text = "";
    #timer = null;
    #isVisible = false;
    /** @param isShown whether to show progress at all: false if the output is for a program */
    constructor(sink, isShown) {
        this.#sink = sink;
        this.#isShown = isShown && sink.isTerminal;
    }
    /** Shows the current step, in a few words. */
    report(text) {
        this.#text = text;
        if (!this.#isShown)
            return;
        if (this.#isVisible)
            void this.#sink.write(`\r\u001b[K${text}`);
        else
            this.#timer ??= setTimeout(() => {
                this.#isVisible = true;
                void this.#sink.write(`\r\u001b[K${this.#text}`);
            }, delayMs).unref();
    }
    done() {
        if (this.#timer !== null)
            clearTimeout(this.#timer);
        this.#timer = null;
        if (this.#isVisible)
            void this.#sink.write("\r\u001b[K");
        this.#isVisible = false;
    }
}
//# sourceMappingURL=progress.js.map