import { lockBoundMs } from "../../health/evidence/freshness.js";
import { formatDuration } from "../output/figures.js";
/** The boolean guards, by their names in the configuration. */
const booleanGuards = [
    ["exclusive_primary", ({ exclusivePrimary }) => exclusivePrimary],
    ["running_primary", ({ runningPrimary }) => runningPrimary],
    ["attached_replica", ({ attachedReplica }) => attachedReplica],
    ["same_system", ({ sameSystem }) => sameSystem],
];
/** Reports guards that are off (RC110), so that this is a reviewed decision. */
export function checkGuards({ command: { args, result }, config }) {
    const file = args.text("config");
    for (const [index, { name, guards }] of config.clusters.entries()) {
        for (const [guard, isOn] of booleanGuards) {
            if (isOn(guards))
                continue;
            const location = file === null
                ? {}
                : { location: { file, pointer: `/clusters/${index}/guards/${guard}`, kind: "source" } };
            result.diagnose("RC110", { message: `cluster ${name}: guard ${guard} is off`, ...location });
        }
    }
    result.cover("guards", "complete", {
        detail: `${booleanGuards.length} guards of ${config.clusters.length} clusters`,
    });
}
/**
 * Compares max_age with the time for which the leader lock is certain to last: ttl - loop_wait - retry_timeout (design
 * rule 1). A larger max_age is reported (RC106), and judgement uses the limit of the lock.
 */
export function checkMaxAge({ command: { result }, config, probed: { snapshot } }) {
    const unknown = [];
    for (const cluster of snapshot.clusters) {
        if (cluster.config === null) {
            unknown.push(cluster.name);
            continue;
        }
        const boundMs = lockBoundMs(cluster);
        if (config.probe.maxAgeMs > boundMs) {
            result.diagnose("RC106", {
                message: `cluster ${cluster.name}: max_age is ${formatDuration(config.probe.maxAgeMs)}, but the limit of the lock ` +
                    `(ttl - loop_wait - retry_timeout) is ${formatDuration(boundMs)} and applies instead`,
            });
        }
    }
    const detail = unknown.length === 0
        ? `${snapshot.clusters.length} clusters`
        : `no node has reported the dynamic configuration of ${unknown.join(", ")}`;
    result.cover("max_age", unknown.length === 0 ? "complete" : "incomplete", { detail });
}
//# sourceMappingURL=guards.js.map