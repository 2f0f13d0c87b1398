import { version } from "../config/version.js";
import { logManagementCall } from "../events/log/audit-log.js";
import { logExpiring } from "../events/log/certificate-log.js";
import { HintLog } from "../events/log/hint-log.js";
import { ListenerLog } from "../events/log/listener-log.js";
import { lostLinesOf } from "../events/log/logger.js";
import { Gateway } from "../gateway/gateway.js";
import { NodeCredentialStore } from "../gateway/node-credentials.js";
import { SnapshotLongPoll } from "../http/admin-api/snapshot-long-poll.js";
import { AnswerCounter } from "../http/message/answer-counter.js";
import { PageGate } from "../http/pages/page-gate.js";
import { eventKinds } from "../events/cluster-event.js";
import { Metrics } from "../metrics/metrics.js";
import { livenessIntervalFactor } from "../state/clusters.js";
import { countWorkers } from "../workers/worker-count.js";
import { CertificateExpiry } from "./certificate-expiry.js";
import { AgentHandlers } from "./handlers/agent-handlers.js";
import { answerSourcesOf } from "./handlers/answer-sources.js";
import { buildListenerHandler } from "./handlers/listener-handler.js";
import { buildMainBackend } from "./handlers/main-backend.js";
import { ListenerGroup } from "./listener-group.js";
import { Monitor } from "./monitor.js";
import { Reloader } from "./reloader.js";
import { fullStateOf } from "./worker/full-state.js";
/** The composition root of the serving process: wires the modules together, starts and stops them. */
export class App {
    #log;
    #monitor;
    #metrics;
    #nodeCredentials;
    #certificates;
    #gateway;
    #snapshots;
    #listenerLog;
    #agents;
    #hintLog;
    #listeners;
    #reloader;
    #sources;
    #configFile;
    /** How many workers run; a reload cannot change it. */
    #workers;
    #counter = new AnswerCounter();
    /** Limits pages over all listeners of this process, those of requests that workers relay too. */
    #gate = new PageGate();
    #config;
    #phase = "starting";
    constructor(config, log, { inherited = [], source } = {}) {
        this.#config = config;
        this.#log = log;
        this.#configFile = source?.file ?? null;
        this.#workers = countWorkers(config.workers);
        this.#metrics = this.#buildMetrics();
        this.#monitor = new Monitor(config, { log, metrics: this.#metrics });
        const { store, clock } = this.#monitor;
        this.#certificates = new CertificateExpiry((readings) => logExpiring(log, readings, clock.wall()));
        this.#sources = answerSourcesOf({
            store: () => store,
            clock: () => clock,
            phase: () => this.#phase,
            counter: this.#counter,
            portOf: (listener) => this.#listeners.portOf(listener),
        });
        this.#nodeCredentials = new NodeCredentialStore((cluster, problem) => log[problem === null ? "info" : "error"]({ cluster, problem }, "files for calls to the nodes read"));
        this.#gateway = this.#buildGateway();
        this.#snapshots = new SnapshotLongPoll(() => store.current);
        this.#listenerLog = new ListenerLog(log, this.#metrics.management);
        const { snapshot, policy, now } = this.#sources;
        this.#agents = new AgentHandlers({
            snapshot,
            policy,
            now,
            isStopping: () => this.#phase === "draining",
            onAnswer: (answer) => this.#metrics.agents.answered(answer),
        });
        this.#hintLog = new HintLog(log);
        this.#listeners = this.#buildListeners(inherited);
        this.#reloader = new Reloader({
            log,
            source: source ?? null,
            apply: (next) => this.apply(next),
            onReload: (outcome) => this.#metrics.reloaded(outcome),
        });
    }
    /** The open listeners, with the ports that they have. */
    get listeners() {
        return this.#listeners.listeners;
    }
    /**
     * Starts: admin listeners open at once, probing begins, health listeners open after the first round or one timeout
     * (design.md, "Deployment we promise").
     * @throws ListenError if a listener cannot be opened
     */
    async start() {
        const { store } = this.#monitor;
        this.#nodeCredentials.start(this.#config.clusters);
        this.#certificates.start(this.#config);
        await this.#monitor.restore();
        store.onOutcome((outcome, nowMs, sequence) => this.#listeners.record(outcome, nowMs, sequence));
        store.onChange(() => this.#snapshots.changed());
        await this.#listeners.openAdmin(this.#config.listen);
        await this.#monitor.probe();
        await this.#listeners.open(this.#config.listen);
        this.#enter("serving");
    }
    /** Loads the configuration again and applies it. @returns why that was refused, or `null` */
    reload() {
        return this.#reloader.reload();
    }
    /**
     * Puts another configuration in force: unchanged listeners keep their sockets, nodes whose address stays keep their
     * evidence.
     * @throws ListenError if a new listener cannot be opened; the old configuration stays in force then
     */
    async apply(config) {
        await this.#listeners.open(config.listen, () => {
            this.#config = config;
            this.#monitor.configure(config);
        });
        if (countWorkers(config.workers) !== this.#workers)
            this.#log.warn({ workers: this.#workers }, "changing the number of workers needs a restart");
        this.#agents.keepOnly(new Set(this.#listeners.listeners.map(({ key }) => key)));
        this.#log.level = config.log.level;
        this.#metrics.forgetNodes();
        this.#nodeCredentials.start(config.clusters);
        this.#certificates.start(config);
        await this.#monitor.probe();
    }
    /** Logs and counts an error that only the process-wide handler caught. */
    logContained(error) {
        this.#listenerLog.logContained(error);
    }
    /** Stops. With `drains`, `/readyz` says no and answers go on for the configured time before everything is closed. */
    async stop({ drains }) {
        this.#enter("draining");
        // Unreferenced, because a second call ends without it; the open listeners keep the process alive meanwhile.
        if (drains)
            await new Promise((resolve) => void setTimeout(resolve, this.#config.drainMs).unref());
        await this.#listeners.close();
        this.#nodeCredentials.stop();
        this.#certificates.stop();
        this.#listenerLog.stop();
        this.#hintLog.stop();
        await this.#monitor.stop();
    }
    #enter(phase) {
        this.#phase = phase;
        this.#listeners.setPhase(phase);
    }
    #buildMetrics() {
        return new Metrics({
            eventKinds,
            snapshot: () => this.#monitor.store.current,
            policy: (cluster) => this.#monitor.policyOf(cluster),
            now: () => this.#monitor.clock.now(),
            wall: () => this.#monitor.clock.wall(),
            answers: () => [...this.#counter.rows(), ...this.#listeners.answers()],
            workers: () => this.#listeners.usage(),
            fastPath: () => this.#listeners.fastPathCounts(),
            certificates: () => this.#certificates.readings,
            lostLogLines: () => lostLinesOf(this.#log),
            history: () => this.#monitor.history.usage,
            refresh: () => this.#listeners.refresh(),
            exporter: () => this.#config.exporter,
            schedule: () => ({ probe: this.#config.probe, livenessIntervalFactor }),
            version: version(),
        });
    }
    #buildGateway() {
        return new Gateway({
            snapshot: this.#sources.snapshot,
            policy: this.#sources.policy,
            now: this.#sources.now,
            wall: () => this.#monitor.clock.wall(),
            credentials: (cluster) => this.#nodeCredentials.get(cluster),
            probeNow: (cluster) => this.#monitor.probeNow(cluster),
            onCall: (record) => {
                this.#metrics.management.called(record);
                logManagementCall(this.#log, record);
            },
        });
    }
    #buildListeners(inherited) {
        return new ListenerGroup({
            log: this.#log,
            workers: this.#workers,
            inherited,
            handlerFor: (listener) => this.#handlerFor(listener),
            lineHandlerFor: (listener, key) => this.#agents.handlerFor({ listener, config: this.#config, key }),
            eventsOf: (listener) => this.#listenerLog.eventsOf(listener),
            fullState: () => fullStateOf({ monitor: this.#monitor, config: this.#config, phase: this.#phase }),
            onContained: (problem) => this.logContained(problem),
        });
    }
    #recordHint(record) {
        this.#metrics.bursts.hinted(record);
        this.#hintLog.record(record);
    }
    #handlerFor(listener) {
        const inConfig = { listener, config: this.#config };
        const { drains, eventLog, history, clock } = this.#monitor;
        const backend = buildMainBackend(inConfig, this.#sources, {
            drains,
            hints: { follow: (hint) => this.#monitor.followHint(hint), onHint: (record) => this.#recordHint(record) },
            eventLog,
            history,
            gateway: this.#gateway,
            snapshots: this.#snapshots,
            metrics: this.#metrics,
            gate: this.#gate,
            wall: () => clock.wall(),
            reload: () => this.reload(),
            configFile: this.#configFile,
        });
        return buildListenerHandler(inConfig, this.#sources, backend);
    }
}
//# sourceMappingURL=app.js.map