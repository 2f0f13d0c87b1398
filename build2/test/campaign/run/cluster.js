import { Oracle } from "../oracle/oracle.js";
import { Troubles } from "../oracle/troubles.js";
import { World } from "../world/world.js";
import { Evidence } from "../wire/evidence.js";
import { Seat } from "../wire/seat.js";
import { NodeServer } from "../wire/server.js";
/**
 * A modelled cluster that is open to rolecall: its truth, its addresses, and a clone of it that was restored elsewhere.
 */
export class Cluster {
    name;
    world;
    seats;
    evidence;
    troubles = new Troubles();
    oracle = new Oracle();
    /** The same scope, system and names under another DCS; null within a clone. */
    clone;
    scene;
    #servers;
    /** Requests to a clone at its own addresses: no evidence about the cluster's nodes. */
    #aside;
    shape;
    profile;
    constructor(shape, profile, options) {
        this.shape = shape;
        this.profile = profile;
        const { index, size, generation, isDiscovered } = shape;
        const { chance, now, stalls, armed } = options;
        this.name = `c${index + 1}`;
        const hosts = (from) => Array.from({ length: size }, (_, node) => `127.0.${index + 1}.${from + node}`);
        const build = (from) => new World({
            scope: this.name,
            system: `77104968881671581${index}`,
            profile,
            chance: chance.fork(from),
            hosts: hosts(from),
            generation,
            nowMs: now(),
        });
        this.world = build(1);
        this.evidence = new Evidence(profile.timeoutMs, profile.slackMs);
        this.seats = this.world.nodes.map((node) => new Seat(this.world, node));
        const cloned = build(101);
        this.clone = { world: cloned, seats: cloned.nodes.map((node) => new Seat(cloned, node)) };
        this.#aside = new Evidence(profile.timeoutMs, profile.slackMs);
        this.#servers = [
            ...this.seats.map((seat) => new NodeServer(seat, seat.node.host, this.evidence, now)),
            ...this.clone.seats.map((seat) => new NodeServer(seat, seat.node.host, this.#aside, now)),
        ];
        const { name, world, seats, evidence, troubles } = this;
        this.scene = { cluster: name, isDiscovered, world, seats, evidence, profile, troubles, stalls, armed };
    }
    /** How rolecall is to be configured for it. Open it first. */
    get watched() {
        const nodes = this.seats.map(({ node }) => ({ name: node.name, api: `http://${node.host}:${node.port}` }));
        return { name: this.name, scope: this.world.scope, isDiscovered: this.shape.isDiscovered, nodes };
    }
    setRate = (bytesPerSecond) => {
        this.world.walRate = bytesPerSecond;
    };
    async open() {
        await Promise.all(this.#servers.map((server) => server.open()));
    }
    async close() {
        await Promise.all(this.#servers.map((server) => server.close()));
    }
    /** Moves the truth to an instant. */
    async tick(nowMs) {
        this.world.tick(nowMs);
        this.clone?.world.tick(nowMs);
        this.#judgeMoves(nowMs);
        this.troubles.feed(this.world, this.seats, nowMs, (node) => this.isMoved(node, nowMs));
        await Promise.all(this.#servers.map((server) => server.follow()));
    }
    /**
     * When the first node moves, checks whether rolecall had responses from at least as many sound witnesses as clones.
     */
    #judgeMoves(nowMs) {
        const { troubles, evidence, profile } = this;
        const names = this.world.nodes.map(({ name }) => name);
        const moved = names.filter((name) => this.isMoved(name, nowMs));
        if (moved.length === 0)
            troubles.isMoveAmbiguous = false;
        if (moved.every((name) => !troubles.isFree(name, nowMs - 100, "moved")))
            return;
        const viewMs = 3 * profile.clusterMs + profile.timeoutMs;
        const clones = names.filter((name) => !troubles.isFree(name, nowMs - viewMs, "guestEver", "moved"));
        const sound = names.filter((name) => {
            const newest = evidence.newestSure(name, "cluster", nowMs - profile.slackMs);
            return (!clones.includes(name) &&
                newest !== undefined &&
                newest.arrivedMs > nowMs - viewMs + profile.intervalMs &&
                this.#answers(name, nowMs));
        });
        if (clones.length > sound.length)
            troubles.isMoveAmbiguous = true;
    }
    /** Whether a node certainly answered rolecall's last request. */
    #answers(name, nowMs) {
        return this.troubles.isFree(name, nowMs - this.profile.intervalMs * this.profile.fall, "status", "refused");
    }
    /** Whether rolecall polls a clone, at the clone's own address, in place of a node. */
    isMoved(node, nowMs) {
        return this.#aside.since(node, "status", nowMs - 2 * this.profile.maxAgeMs).length > 0;
    }
    /**
     * Whether the truth is as it should be: a running primary with the lock, and every other node streaming on its
     * timeline.
     */
    isSettled(nowMs) {
        const { world, troubles, profile } = this;
        const { holding } = world;
        if (holding === null || nowMs - holding.sinceMs < profile.loopMs || world.node(holding.name).role !== "primary")
            return false;
        return world.nodes.every(({ name, shownTimeline }) => {
            if (name === holding.name)
                return troubles.isFree(name, nowMs - profile.loopMs, "notPrimary");
            return shownTimeline === world.timeline && troubles.isFree(name, nowMs - profile.loopMs, "detached");
        });
    }
    /** The truth in a few lines. */
    truth(nowMs) {
        const { world } = this;
        const { dcs } = world;
        const flags = [dcs.isDown && "DCS down", dcs.isPaused && "paused", dcs.hasFailsafe && "failsafe on"]
            .filter(Boolean)
            .join(", ");
        const held = world.holding === null ? "" : ` for ${((nowMs - world.holding.sinceMs) / 1_000).toFixed(2)} s`;
        const nodes = this.seats.map(({ node, mask, guest }) => {
            const { name, role, state, timeline, written, received, replayed, receiver, upstream, isStreaming } = node;
            const wal = role === "primary"
                ? `at ${written}`
                : `${isStreaming ? "streams" : receiver} from ${upstream} received ${received} replayed ${replayed}`;
            const faults = [
                !node.isUp && "off",
                node.isHalted && "halted",
                node.isManagerFrozen && "manager frozen",
                guest !== null && "guest",
            ]
                .concat([
                mask.refuses && "refuses",
                mask.claims && "claims",
                mask.frozenStatus !== null && "old status",
                mask.lose !== null && "loses",
            ])
                .concat([
                mask.view !== undefined && `view names ${mask.view}`,
                ...[...mask.wire].map(([kind, fault]) => `${kind} ${fault.kind}`),
            ])
                .filter(Boolean);
            const lease = node.leaseUntilMs > nowMs ? " holds a lease" : "";
            return `  ${name}: ${role} ${state} timeline ${timeline} ${wal}${lease}${dcs.cut.has(name) ? ", cut from the DCS" : ""}; ${faults.join(", ") || "no fault"}`;
        });
        return [`lock: ${world.holder(nowMs) ?? "nobody"}${held}${flags === "" ? "" : `; ${flags}`}`, ...nodes];
    }
}
//# sourceMappingURL=cluster.js.map