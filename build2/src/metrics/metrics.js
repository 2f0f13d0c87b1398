import { Counter, Registry } from "prom-client";
import { expositionType, inSlices, renderPage } from "../exposition/writer.js";
import { AgentMetrics } from "./agent-metrics.js";
import { BalancerMetrics } from "./balancer-metrics.js";
import { BurstMetrics } from "./burst-metrics.js";
import { certificateMetrics } from "./certificate-metrics.js";
import { buildInfo } from "./collectors/build-info.js";
import { collectorsOfNode } from "./collectors/collectors.js";
import { ProbeStats } from "./collectors/probe-stats.js";
import { DcsMetrics } from "./dcs-metrics.js";
import { Durations } from "./durations.js";
import { EventCounts } from "./event-counts.js";
import { registerFastPathMetrics } from "./fast-path-metrics.js";
import { registerHistoryMetrics } from "./history-metrics.js";
import { ManagementMetrics } from "./management-metrics.js";
import { clusterMetrics } from "./nodes/cluster-metrics.js";
import { nodeMetrics, probeMetrics } from "./nodes/node-metrics.js";
import { nodeSeries } from "./nodes/node-series.js";
import { managerFamilies } from "./nodes/patroni-metrics.js";
import { exporterFamilies } from "./nodes/pg-exporter-metrics.js";
import { registerProcessMetrics } from "./process-metrics.js";
/** Our own metrics and those of the nodes, in the text exposition format. A scrape reads memory only. */
export class Metrics {
    /** Metrics of management calls and listeners. */
    management;
    bursts;
    agents;
    balancers;
    dcs;
    /** How the probes of each node went. */
    probeStats = new ProbeStats();
    #registry = new Registry();
    #sources;
    #durations = new Durations();
    #reloads;
    #disputes;
    #events;
    #rendering = null;
    constructor(sources) {
        const registers = [this.#registry];
        this.#sources = sources;
        this.#reloads = new Counter({
            name: "rolecall_reloads_total",
            help: "Reloads of the configuration.",
            labelNames: ["outcome"],
            registers,
        });
        // `increase()` does not see the first reload of a sample that begins with 1.
        for (const outcome of ["applied", "refused"])
            this.#reloads.inc({ outcome }, 0);
        this.#disputes = new Counter({
            name: "rolecall_disputes_total",
            help: "Episodes in which several nodes claimed the lock, or one that the cluster did not confirm.",
            labelNames: ["cluster"],
            registers,
        });
        this.#events = new EventCounts(sources.eventKinds);
        this.management = new ManagementMetrics(registers);
        this.bursts = new BurstMetrics(registers);
        this.agents = new AgentMetrics(registers);
        this.balancers = new BalancerMetrics(registers);
        this.dcs = new DcsMetrics(registers);
        registerFastPathMetrics(registers, sources.fastPath);
        registerProcessMetrics(registers, sources);
        registerHistoryMetrics(registers, sources.history);
    }
    /** Counts a probe that has finished. */
    probed(record) {
        const { cluster, endpoint, outcome, durationMs } = record;
        this.probeStats.count(record, this.#sources.wall());
        if (outcome !== "skipped")
            this.#durations.observe(cluster, endpoint, durationMs / 1000);
    }
    /** Counts a reload. */
    reloaded(outcome) {
        this.#reloads.inc({ outcome });
    }
    /** Counts an episode in which it is undecided who leads. */
    disputed(cluster) {
        this.#disputes.inc({ cluster });
    }
    /** Counts an event. */
    happened({ cluster, kind }) {
        this.#events.count(cluster, kind);
    }
    /** Drops what is counted for each node, so that removed nodes do not stay forever. */
    forgetNodes() {
        this.probeStats.forget();
    }
    /**
     * Renders all metrics, in slices, so that checks are not delayed. Scrapes that come while a page is being rendered
     * share it: there is never more than one rendering.
     */
    render() {
        this.#rendering ??= this.#render().finally(() => {
            this.#rendering = null;
        });
        return this.#rendering;
    }
    async #render() {
        await this.#sources.refresh();
        const own = await this.#registry.metrics();
        const nodes = await inSlices(nodeSeries(this.#sources));
        const nodePieces = await renderPage([
            this.#durations.family(),
            ...clusterMetrics(this.#sources),
            this.#events.family(this.#sources.snapshot().clusters.map(({ name }) => name)),
            certificateMetrics(this.#sources.certificates()),
            ...nodeMetrics(nodes),
            ...probeMetrics(this.probeStats.all()),
            ...this.#upstreamFamilies(nodes),
        ]);
        return { pieces: [Buffer.from(own), ...nodePieces], contentType: expositionType };
    }
    /** The metrics that the nodes themselves, and an exporter of each, would show. */
    #upstreamFamilies(nodes) {
        const { naming, disableIntro, namespace } = this.#sources.exporter();
        const manager = managerFamilies(nodes, naming);
        if (disableIntro)
            return manager;
        const known = new Map();
        const source = (series) => {
            const sources = known.get(series) ?? this.#readSources(series);
            known.set(series, sources);
            return sources;
        };
        const context = { naming, namespace, build: buildInfo(this.#sources.version), uptimeS: process.uptime(), source };
        return [...exporterFamilies(nodes, context), ...manager];
    }
    #readSources({ view, observation }) {
        return collectorsOfNode(view.cluster.name, observation.node, this.#sources.schedule()).flatMap((collector) => {
            const stat = this.probeStats.of(collector.cluster, collector.node, collector.endpoint);
            return stat === null ? [] : [{ collector, stat }];
        });
    }
}
//# sourceMappingURL=metrics.js.map