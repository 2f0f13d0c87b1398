import { majorOf } from "./version.js";
const unreadable = /[?&]lag=(banana|-1|)(&|$)|[?&]mode=banana/;
const elsewhere = ["/replica/extra", "/leader-foo", "/nosuch", "/Replica"];
/** Lag and role of a changing node may differ: its document and its answers are up to a second apart. */
const moving = ["just-after-switchover", "old-leader-thawed", "replica-reinitializing"];
/** The statuses that may differ from the node's own. test/vectors/README.md has the only list of exceptions. */
export function expected(vector, { name, check, own }) {
    if (unreadable.test(check) || elsewhere.includes(check))
        return [400];
    const isSilent = vector.nodes[name]?.["leader"]?.status === 0;
    if (isSilent || own === null)
        return [503];
    if (majorOf(vector.patroni) < 4 && check.startsWith("/read-only-quorum"))
        return holdsLock(vector, name) ? [200] : [503];
    if (vector.scenario.startsWith("dcs-down") && /^\/(a?sync|quorum|read-only-|readiness)|[?&]lag=/.test(check))
        return [200, 503];
    if (check === "/sync/")
        return [vector.answers[name]?.["/sync"] ?? own];
    // Nodes do not know the unit and apply no limit. rolecall reads the unit, so its answer equals theirs for 1MB.
    if (check.endsWith("lag=1mb"))
        return [vector.answers[name]?.[check.replace("1mb", "1MB")] ?? own];
    if (moving.includes(vector.scenario))
        return [own, own === 200 ? 503 : 200];
    return [own];
}
function holdsLock(vector, name) {
    return vector.nodes[name]?.["leader"]?.status === 200;
}
//# sourceMappingURL=exceptions.js.map