import { ClusterFixture } from "./cluster-fixture.js";
/** Runs a scenario and returns the answers that differ from the expected ones. */
export function runScenario({ steps, ...setting }) {
    const watched = new ClusterFixture(setting);
    return steps.flatMap((step) => play(watched, step));
}
/** Several failures are one interval apart, the last one at the step's instant, so that each counts (rule 8). */
function fail(watched, { at, fails, by, times = 1 }) {
    for (let before = times - 1; before >= 0; before -= 1)
        watched.fail(fails, by, at * 1000 - before * watched.policy.intervalMs);
}
function look(watched, views, atMs) {
    for (const [witness, names] of Object.entries(views)) {
        if (names === "none")
            watched.failView(witness, atMs);
        else
            watched.nameLeader(names, witness, atMs);
    }
}
function play(watched, step) {
    const atMs = step.at * 1000;
    if ("leads" in step)
        watched.lead(step.leads, atMs, step.with);
    else if ("follows" in step)
        watched.follow(step.follows, atMs, step.with);
    else if ("answers" in step)
        watched.answer(step.answers, { hasLock: step.lock, fields: step.with ?? {} }, atMs);
    else if ("fails" in step)
        fail(watched, step);
    else if ("heartbeat" in step)
        watched.recordLiveness(step.heartbeat, step.alive, atMs);
    else if ("document" in step)
        watched.document(step.document, { of: step.of, value: step.says }, atMs);
    else if ("dcs" in step)
        watched.readDcs(step.dcs, atMs, step);
    else if ("views" in step)
        look(watched, step.views, atMs);
    else if ("names" in step)
        watched.nameLeader(step.names, step.of, atMs, step.timeline);
    else {
        return Object.entries(step.is).flatMap(([check, expected]) => {
            const answered = watched.judge(step.ask, check, atMs);
            return answered === expected
                ? []
                : [`at ${step.at} s ${step.ask ?? "the cluster"} ${check}: ${answered}, expected ${expected}`];
        });
    }
    return [];
}
//# sourceMappingURL=scenario.js.map