import { sourceWords } from "../../client/next-command.js";
import { selectionOf } from "../selection/selection.js";
import { LagSamples } from "./lag-samples.js";
import { pause } from "./refresh.js";
import { WatchScreen } from "./screen.js";
import { pressKey } from "./view.js";
/** While nothing happens, the screen is drawn anew after this time, in ms: the age of the data is on it. */
const redrawMs = 1_000;
/** What one user sees: the view, which keys change, and the status, which responses change. */
export class WatchSession {
    #context;
    #lateMs;
    #source;
    #screen = new WatchScreen();
    #lags = new LagSamples();
    #ended = new AbortController();
    #view;
    #range = { page: 1, offsetMax: 0 };
    #last = null;
    #lastAtMs = performance.now();
    #problem = null;
    #change = new AbortController();
    /** @param lateMs data that is older than this is shown as old, in ms */
    constructor(context, lateMs) {
        this.#context = context;
        this.#lateMs = lateMs;
        this.#source = sourceWords(context.args);
        this.#view = { ...selectionOf(context.args), offset: 0, isTyping: false, isPaused: false, isEnded: false };
    }
    get last() {
        return this.#last;
    }
    get isPaused() {
        return this.#view.isPaused;
    }
    /** Aborted when the user ends the command. */
    get ended() {
        return this.#ended.signal;
    }
    end() {
        this.#ended.abort();
        this.changed();
    }
    press(key) {
        this.#view = pressKey(this.#view, key, this.#range);
        if (this.#view.isEnded)
            this.end();
        else
            this.changed();
    }
    /** Takes a response. What arrives while the table is paused is not shown. */
    receive(response) {
        if (this.#view.isPaused)
            return;
        this.#problem = "problem" in response ? response.problem : null;
        if ("clusters" in response) {
            this.#last = response;
            this.#lastAtMs = performance.now();
            this.#lags.add(response.clusters);
        }
        this.changed();
    }
    /** Draws the screen as it is now. */
    draw() {
        const { io, args, style } = this.#context;
        const ageMs = performance.now() - this.#lastAtMs;
        const isLate = ageMs > this.#lateMs;
        const { lines, range } = this.#screen.draw(this.#view, { last: this.#last, ageMs, isLate, problem: this.#problem, now: new Date() }, {
            columns: io.stdout.columns(),
            rows: io.stdout.rows(),
            isWide: args.text("output") === "wide",
            style,
            history: (cluster, node) => this.#lags.of(cluster, node),
            source: this.#source,
        });
        this.#range = range;
        return lines;
    }
    /** Ends the present wait for a change. */
    changed() {
        this.#change.abort();
    }
    /** Waits until something changes, and at most until the screen has to be drawn anew. */
    async nextChange() {
        await pause(redrawMs, [this.#change.signal]);
        this.#change = new AbortController();
    }
}
//# sourceMappingURL=session.js.map