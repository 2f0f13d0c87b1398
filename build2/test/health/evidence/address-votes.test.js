import assert from "node:assert/strict";
import { test } from "node:test";
import { discoveringCluster, applyMemberList, failUntilDown, describeNodes, seedUrl } from "../../fake/member-lists.js";
import { clonedList, hostsOf, names, viewSettings } from "./cloned-cluster.js";
/** A cluster whose nodes all answer; the first name leads. */
function known(order) {
    const watched = discoveringCluster({ policy: viewSettings });
    applyMemberList(watched, order, 0);
    for (const name of order)
        if (name === order[0])
            watched.lead(name, 0);
        else
            watched.follow(name, 0);
    return watched;
}
/** Orders of the member list that give each node each role in turn. */
const orders = [
    ["pg3", "pg1", "pg2", "pg4"],
    ["pg1", "pg3", "pg4", "pg2"],
    ["pg4", "pg2", "pg1", "pg3"],
    ["pg2", "pg4", "pg3", "pg1"],
];
for (const order of orders) {
    const [leader, cloned, ...sound] = order;
    const at = `${leader} leads, a clone answers at ${cloned}'s address`;
    test(`the member list of a clone that claims the lock moves no node against two other lists: ${at}`, () => {
        for (const listed of [order, order.toReversed()]) {
            const watched = known(listed[0] === leader ? listed : order);
            for (const witness of sound)
                applyMemberList(watched, listed, 500, { of: witness, leader });
            failUntilDown(watched, leader, 4_000);
            for (const atMs of [4_000, 5_000, 6_000]) {
                watched.lead(cloned, atMs);
                applyMemberList(watched, clonedList(listed), atMs, { of: cloned, leader: cloned });
                for (const witness of sound)
                    watched.follow(witness, atMs);
                assert.deepEqual(hostsOf(watched), Object.fromEntries(order.map((name) => [name, name])));
            }
            for (const witness of sound)
                applyMemberList(watched, listed, 6_500, { of: witness, leader });
            watched.lead(leader, 7_000);
            watched.follow(cloned, 7_000);
            assert.equal(watched.judge(leader, "primary", 7_000), "fit");
            assert.equal(watched.judge(cloned, "replica", 7_000), "fit");
        }
    });
    test(`a node moved by a clone's applyMemberList alone moves back once two other lists disagree: ${at}`, () => {
        const watched = known(order);
        failUntilDown(watched, leader, 4_000);
        for (const witness of sound)
            failUntilDown(watched, witness, 4_000);
        watched.lead(cloned, 4_000);
        applyMemberList(watched, clonedList(order), 4_000, { of: cloned, leader: cloned });
        assert.equal(hostsOf(watched)[cloned], `clone-${cloned}`, "only its own applyMemberList counts");
        for (const witness of sound)
            watched.follow(witness, 5_000);
        watched.lead(cloned, 5_000);
        applyMemberList(watched, order, 5_100, { of: sound[0] ?? "", leader });
        assert.equal(hostsOf(watched)[cloned], `clone-${cloned}`, "a tie");
        applyMemberList(watched, order, 5_200, { of: sound[1] ?? "", leader });
        assert.deepEqual(hostsOf(watched), Object.fromEntries(order.map((name) => [name, name])));
        assert.equal(watched.cluster.leaderViews.has(cloned), false, "the clone's view is dropped with its address");
        assert.equal(watched.judge(cloned, "primary", 5_200), "unknown");
    });
    test(`a failed node moves once more lists give its new address than its old one: ${at}`, () => {
        const moved = order.map((name) => (name === cloned ? `${name} new` : name));
        const watched = known(order);
        for (const witness of [leader, ...sound])
            applyMemberList(watched, order, 500, { of: witness, leader });
        failUntilDown(watched, cloned, 4_000);
        watched.lead(leader, 4_000);
        for (const witness of sound)
            watched.follow(witness, 4_000);
        applyMemberList(watched, moved, 4_100, { of: sound[0] ?? "", leader });
        assert.equal(hostsOf(watched)[cloned], cloned, "one of three");
        applyMemberList(watched, moved, 4_200, { of: leader, leader });
        assert.equal(hostsOf(watched)[cloned], "new");
    });
}
test("two lists that disagree move no node until the older one expires", () => {
    const watched = known(["pg1", "pg2", "pg3"]);
    applyMemberList(watched, ["pg1", "pg2", "pg3"], 500, { of: "pg3", leader: "pg1" });
    failUntilDown(watched, "pg2", 4_000);
    for (const atMs of [4_000, 8_000, 11_999]) {
        watched.lead("pg1", atMs);
        applyMemberList(watched, ["pg1", "pg2 new", "pg3"], atMs, { of: "pg1", leader: "pg1" });
        assert.equal(hostsOf(watched)["pg2"], "pg2", `${atMs}`);
    }
    applyMemberList(watched, ["pg1", "pg2 new", "pg3"], 12_000, { of: "pg1", leader: "pg1" });
    assert.equal(hostsOf(watched)["pg2"], "new");
});
test("the member list of a node that stopped answering does not count", () => {
    const watched = known(["pg1", "pg2", "pg3"]);
    applyMemberList(watched, ["pg1", "pg2", "pg3"], 500, { of: "pg3", leader: "pg1" });
    failUntilDown(watched, "pg2", 4_000);
    failUntilDown(watched, "pg3", 4_000);
    applyMemberList(watched, ["pg1", "pg2 new", "pg3"], 4_100, { of: "pg1", leader: "pg1" });
    assert.equal(hostsOf(watched)["pg2"], "new");
});
test("a move is found if one other node answers, and if none does", () => {
    const watched = known(["pg1", "pg2"]);
    applyMemberList(watched, ["pg1", "pg2"], 500, { of: "pg1", leader: "pg1" });
    failUntilDown(watched, "pg2", 4_000);
    applyMemberList(watched, ["pg1", "pg2 new"], 4_100, { of: "pg1", leader: "pg1" });
    assert.deepEqual(hostsOf(watched), { pg1: "pg1", pg2: "new" });
    failUntilDown(watched, "pg1", 8_000);
    failUntilDown(watched, "pg2", 8_000);
    applyMemberList(watched, ["pg1 new1", "pg2 new2"], 8_100, { of: seedUrl, leader: null });
    assert.deepEqual(hostsOf(watched), { pg1: "new1", pg2: "new2" });
});
test("a node's own new address waits until fewer lists give its old one", () => {
    const watched = known(["pg1", "pg2", "pg3"]);
    const moved = ["pg1", "pg2 new", "pg3"];
    for (const of of ["pg1", "pg3"])
        applyMemberList(watched, ["pg1", "pg2", "pg3"], 500, { of, leader: "pg1" });
    applyMemberList(watched, moved, 1_000, { of: "pg2", leader: "pg1" });
    applyMemberList(watched, moved, 1_100, { of: "pg1", leader: "pg1" });
    assert.equal(hostsOf(watched)["pg2"], "new", "two of three lists give it");
    assert.deepEqual(describeNodes(watched)[1], "pg2 http://new:8008");
});
test("a fixed node keeps its address whatever the lists say", () => {
    const watched = discoveringCluster({ nodes: [{ name: "pg2", api: "http://pg2:8008" }], policy: viewSettings });
    applyMemberList(watched, ["pg1", "pg2", "pg3"], 0);
    watched.lead("pg1", 0);
    watched.follow("pg2", 0);
    watched.follow("pg3", 0);
    for (const of of ["pg1", "pg2", "pg3"])
        applyMemberList(watched, ["pg1", "pg2 new", "pg3"], 1_000, { of, leader: "pg1" });
    assert.equal(hostsOf(watched)["pg2"], "pg2");
});
test("a node that denies the lock at another address than the view's does not refute the view", () => {
    for (const [first, second] of [
        ["pg2", "pg4"],
        ["pg4", "pg2"],
    ]) {
        for (const elsewhere of [false, true]) {
            const watched = known([...names]);
            watched.follow("pg1", 1_000);
            watched.lead("pg1", 2_000);
            const listed = names.map((name) => (name === "pg3" && elsewhere ? "pg3 truly" : name));
            applyMemberList(watched, [...names], 3_000, { of: "pg1", leader: "pg1" });
            applyMemberList(watched, [...names], 3_000, { of: "pg3", leader: "pg3" });
            for (const of of [first, second])
                applyMemberList(watched, listed, 3_000, { of, leader: "pg3" });
            assert.equal(hostsOf(watched)["pg3"], "pg3", "it answers there, and the lists are tied");
            watched.follow("pg3", 4_000);
            watched.lead("pg1", 4_000);
            assert.equal(watched.judge("pg1", "primary", 4_000), elsewhere ? "superseded" : "fit");
        }
    }
});
//# sourceMappingURL=address-votes.test.js.map