import { loadConfig } from "../config/load.js";
import { openLog } from "../events/log/logger.js";
import { App } from "./app.js";
import { installLastResort } from "./last-resort.js";
/** The serving process: the App with its log, and the last resort for uncaught errors. */
export class ServingProcess {
    log;
    #app;
    #removeLastResort = () => { };
    constructor(log, { config, sources, inheritedSockets }) {
        this.log = log;
        const source = { file: sources.file, load: () => loadConfig(sources) };
        this.#app = new App(config, this.log, { inherited: inheritedSockets, source });
    }
    /** Creates a serving process with its log. It does nothing until `start` is called. */
    static async create(options) {
        return new ServingProcess(await openLog(options.config.log, options.sources.env), options);
    }
    /** The open listeners, with their ports. */
    get listeners() {
        return this.#app.listeners;
    }
    /**
     * Starts to probe and opens the listeners. Call `stop` even if this fails: probing may have begun.
     * @throws ListenError if a listener cannot be opened
     */
    async start() {
        this.#removeLastResort = installLastResort((error) => this.#app.logContained(error));
        await this.#app.start();
        for (const { config: listener, port } of this.listeners)
            this.log.info({ address: listener.address, port, dialect: listener.dialect }, "listening");
    }
    /**
     * Reloads the configuration, after any reload in progress. If it is not valid, the old one stays in force.
     * @returns why the reload was refused, or `null` if it succeeded
     */
    reload() {
        return this.#app.reload();
    }
    /**
     * Stops. With `drains`, answers go on for the configured time while `/readyz` is 503. A second call without `drains`
     * ends a drain early.
     */
    async stop({ drains }) {
        await this.#app.stop({ drains });
        this.#removeLastResort();
        this.#removeLastResort = () => { };
    }
}
//# sourceMappingURL=serving-process.js.map