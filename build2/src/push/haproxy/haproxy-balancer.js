import { backoffMs } from "../../probe/schedule/backoff.js";
import { ChangeQueue } from "../change-queue.js";
import { applyChanges, readBackends } from "./apply-changes.js";
import { BalancerProblems } from "./balancer-problems.js";
import { parseProcess, processCommands } from "./haproxy-process.js";
import { RuntimeApiError, RuntimeSession } from "./runtime-session.js";
const defaultTiming = { deadlineMs: 1_000, pollMs: 1_000, retryMs: [250, 5_000] };
/**
 * Sends changes to one HAProxy. Changes wait in a queue that keeps the newest of each server; one exchange runs at a
 * time. A new process of HAProxy gets the current verdict of every server.
 */
export class HaproxyBalancer {
    #config;
    #context;
    #timing;
    #queue = new ChangeQueue();
    #problems;
    #session = null;
    #timer = null;
    #process = null;
    #failures = 0;
    /** When an exchange last failed, in ms of our clock: changes since then are not counted as failed yet. */
    #failedAtMs = -Infinity;
    #isStopped = false;
    constructor(config, context) {
        this.#config = config;
        this.#context = context;
        this.#timing = context.timing ?? defaultTiming;
        this.#problems = new BalancerProblems(context.log, config.name);
    }
    /** Connects for the first time, and looks for new processes of HAProxy from now on. */
    start() {
        this.#exchangeNow();
    }
    /** Sends changes, at once unless an exchange is running. */
    push(changes) {
        for (const change of changes)
            this.#queue.add(change);
        this.#exchangeNow();
    }
    /** Stops. Changes that wait are dropped: HAProxy's checks go on. */
    stop() {
        this.#isStopped = true;
        this.#session?.close();
        if (this.#timer !== null)
            clearTimeout(this.#timer);
    }
    #exchangeNow() {
        if (this.#session !== null || this.#isStopped)
            return;
        if (this.#timer !== null)
            clearTimeout(this.#timer);
        this.#session = new RuntimeSession(this.#config.haproxy.socket, this.#timing.deadlineMs);
        void this.#runExchange(this.#session);
    }
    async #runExchange(session) {
        const delayMs = await this.#exchange(session);
        this.#session = null;
        if (this.#isStopped)
            return;
        if (delayMs === 0)
            this.#exchangeNow();
        else
            this.#timer = setTimeout(() => this.#exchangeNow(), delayMs).unref();
    }
    /** Runs one exchange. @returns how long to wait before the next one, in ms */
    async #exchange(session) {
        try {
            session.open();
            const process = parseProcess(await session.run(processCommands));
            this.#requireUsable(process);
            const isNew = process.id !== this.#process;
            if (isNew)
                this.#queue.putBack(this.#context.current(this.#config.name));
            await this.#apply(session, isNew);
            if (isNew)
                this.#begin(process);
            this.#succeed();
            return this.#queue.size > 0 ? 0 : this.#timing.pollMs;
        }
        catch (error) {
            return this.#fail(error);
        }
        finally {
            session.close();
        }
    }
    /** @throws RuntimeApiError if no server can be set now */
    #requireUsable({ level, isStopping }) {
        if (isStopping)
            throw new RuntimeApiError("an old process of HAProxy answers, which is stopping");
        if (level !== "admin")
            throw new RuntimeApiError(`permission denied: the socket needs level admin, and it has level ${level}`);
    }
    /** Applies what waits. Reads every backend of a new process, so that wrong names show at once. */
    async #apply(session, isNew) {
        const changes = this.#queue.takeAll();
        const { backends } = this.#config.haproxy;
        const concerned = backends.filter(({ name }) => isNew || changes.some(({ backend }) => backend === name));
        if (concerned.length === 0)
            return;
        try {
            const states = await readBackends(session, concerned.map(({ name }) => name));
            for (const [backend, servers] of states) {
                if (servers === null)
                    this.#problems.report(`backend ${backend}`, "HAProxy has no backend of this name");
                else
                    this.#problems.resolve(`backend ${backend}`);
            }
            for (const applied of await applyChanges(session, changes, states))
                this.#record(applied, states.get(applied.change.backend) !== null);
        }
        catch (error) {
            this.#queue.putBack(changes);
            throw error;
        }
    }
    #record({ change, outcome, hasCut, answer }, hasBackend) {
        const { metrics, log, now } = this.#context;
        const balancer = this.#config.name;
        const subject = `server ${change.backend}/${change.server}`;
        const durationMs = now() - change.atMs;
        metrics.pushed(balancer, outcome, outcome === "pushed" ? durationMs : null);
        if (hasCut)
            metrics.cut(balancer);
        if (outcome === "missing") {
            if (hasBackend)
                this.#problems.report(subject, "HAProxy has no server of this name");
        }
        else if (outcome === "unchecked")
            this.#problems.report(subject, "HAProxy does not check this server, so nothing would correct a push");
        else if (outcome === "refused")
            this.#problems.report(subject, `HAProxy refused the command: ${answer ?? ""}`);
        else
            this.#problems.resolve(subject);
        if (outcome !== "pushed")
            return;
        const { backend, server, target, weight } = change;
        const set = { ...(target === null ? {} : { target }), ...(weight === null ? {} : { weight_percent: weight }) };
        const fields = { balancer, backend, server, ...set, sessions_closed: hasCut, duration_ms: Math.round(durationMs) };
        log.info(fields, "balancer updated");
    }
    #begin({ id, version }) {
        const { log } = this.#context;
        const fields = { balancer: this.#config.name, version };
        log.info(fields, this.#process === null ? "balancer connected" : "balancer has a new process: all servers updated");
        this.#process = id;
    }
    #succeed() {
        this.#failures = 0;
        this.#problems.resolve("runtime API");
        this.#context.metrics.available(this.#config.name, true);
    }
    #fail(error) {
        if (this.#isStopped)
            return 0;
        const { metrics } = this.#context;
        metrics.available(this.#config.name, false);
        for (let left = this.#queue.countSince(this.#failedAtMs); left > 0; left -= 1)
            metrics.pushed(this.#config.name, "failed", null);
        this.#failedAtMs = this.#context.now();
        this.#problems.report("runtime API", error instanceof Error ? error.message : String(error));
        this.#failures += 1;
        const [firstMs, maxMs] = this.#timing.retryMs;
        return backoffMs({ firstMs, maxMs, failures: this.#failures });
    }
}
//# sourceMappingURL=haproxy-balancer.js.map