import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { writeConfigFile, freePort, RolecallProcess } from "../fake/rolecall-process.js";
import { until } from "../fake/until.js";
import { faultsOf, looksOf } from "./judge.js";
import { WorldServer } from "./server.js";
import { Watcher } from "./watcher.js";
import { World } from "./world.js";
/** The time that a new program that probes hundreds of nodes at once needs to settle, in ms. */
const warmUpMs = 2_500;
/** The fake servers of many sequences, and one rolecall process that watches all of them. */
export class SequenceRunner {
    running;
    #watchers;
    #now;
    constructor(running, watchers, now) {
        this.running = running;
        this.#watchers = watchers;
        this.#now = now;
    }
    /** Starts all servers and rolecall. The instant 0 is the end of its first round of probes. */
    static async open(context, sequences, launch) {
        // Until rolecall answers, the clock of the worlds does not advance: their values must never run backwards.
        let startedMs = Infinity;
        const now = () => Math.max(0, (performance.now() - startedMs) / 1000);
        const all = sequences.map((sequence, at) => raise(sequence, `127.${100 + (at >> 8)}.${at & 255}`, now));
        const servers = all.flatMap((played) => [...played.servers.values()]);
        context.after(async () => {
            for (const server of servers)
                await server.close();
        });
        for (const server of servers)
            await server.open();
        for (const server of servers)
            await server.settle();
        const { running, port } = await serve(context, launch, all);
        const watchers = new Map();
        for (const played of all)
            watchers.set(played, await Watcher.open(port, looksOf(played.sequence), now));
        await sleep(warmUpMs);
        startedMs = performance.now();
        return [new SequenceRunner(running, watchers, now), all];
    }
    /** Runs a sequence and returns its violations. */
    async play(played) {
        const { sequence, world, servers } = played;
        const watcher = this.#watchers.get(played);
        if (watcher === undefined)
            throw new Error(`Cannot play ${sequence.name}: another stage must not have opened it`);
        watcher.start(sequence.every ?? 300);
        for (const step of sequence.steps) {
            await this.until(step.at);
            world.apply(step);
            for (const server of servers.values())
                await server.settle();
        }
        await this.until(sequence.lasts);
        watcher.stop();
        return faultsOf(sequence, watcher);
    }
    /** @param at seconds since the start */
    async until(at) {
        await sleep(Math.max(0, (at - this.#now()) * 1000));
    }
}
/** The mirror image of a sequence: the same nodes in the other order. */
export function reversed(sequence) {
    return { ...sequence, name: `${sequence.name}-reversed`, nodes: sequence.nodes.toReversed() };
}
/** A sequence's world and its servers, at addresses that differ in the last byte. */
function raise(sequence, net, now) {
    const world = new World(sequence);
    const servers = world.servers.map((name, index) => [name, new WorldServer(world, name, { address: `${net}.${index + 1}`, now })]);
    return { sequence, world, servers: new Map(servers) };
}
/** Starts rolecall for all clusters and waits until its first round of probes is done. */
async function serve(context, { workers, command }, all) {
    const port = await freePort();
    const clusters = all.map(({ sequence, world }) => clusterOf(sequence, world));
    const config = {
        clusters,
        listen: [{ port, cluster: "*" }],
        host_suffixes: [".db.internal"],
        workers,
        log: { level: "warn" },
    };
    // JSON is YAML.
    const args = ["serve", "--config", writeConfigFile(context, JSON.stringify(config))];
    const running = new RolecallProcess(context, args, command === undefined ? {} : { command });
    for (const pid of [process.pid, running.process.pid])
        favour(pid);
    let ended = null;
    void running.exit.then((code) => (ended = code));
    await until({ what: "/readyz answered 200", seconds: 120, evidence: () => running.stderr }, async () => {
        if (ended !== null)
            throw new Error(`rolecall ended with ${String(ended)}: ${running.stderr}`);
        const status = await fetch(`http://127.0.0.1:${port}/readyz`).then((response) => response.status, () => 0);
        return status === 200;
    });
    return { running, port };
}
/**
 * Servers that answer late because the machine is busy would change the truth. These processes therefore have a higher
 * priority if that is allowed.
 */
function favour(pid) {
    try {
        if (pid !== undefined)
            setPriority(pid, -10);
    }
    catch {
        // Only root may do this. The bounds of the sequences tolerate a machine that is busy but not overloaded.
    }
}
function clusterOf(sequence, { addresses }) {
    const { name, nodes, discover, guards } = sequence;
    const of = discover === true
        ? { discover: nodes.map((node) => addresses.get(node)) }
        : { nodes: nodes.map((node) => nodeOf(sequence, node, addresses)) };
    return { name, ...of, ...(guards === undefined ? {} : { guards }) };
}
function nodeOf({ called, anonymous }, node, addresses) {
    const member = called !== undefined && anonymous !== true ? { member: node } : {};
    return { name: called?.[node] ?? node, api: addresses.get(node), ...member };
}
//# sourceMappingURL=sequence-runner.js.map