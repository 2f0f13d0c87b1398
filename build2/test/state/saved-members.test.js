import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { restoreClusters } from "../../src/state/clusters.js";
import { readSavedState, writeSavedState } from "../../src/state/saved-state.js";
import { clusterOf, configOf, nodeOf } from "../fake/config.js";
import { ClusterFixture } from "../fake/cluster-fixture.js";
const cluster = clusterOf({ discover: ["http://seed:8008"] });
let folder = "";
before(() => {
    folder = mkdtempSync(join(tmpdir(), "rolecall-members-"));
});
after(() => rmSync(folder, { recursive: true }));
/** The members of the cluster that a file holds. */
function savedNodes(file) {
    return readSavedState(file, [cluster]).clusters.get("demo")?.nodes ?? [];
}
/** The members that are read from a file with this text. */
function membersOf(text) {
    const file = join(folder, "members.json");
    writeFileSync(file, text);
    return savedNodes(file).map(({ name, api }) => `${name} ${api}`);
}
function snapshotOf(state) {
    return { instance: "run", sequence: 1, clusters: [state], index: new Map([["demo", 0]]) };
}
test("saves discovered members, not fixed nodes", async () => {
    const watched = new ClusterFixture({ nodes: ["db1"], cluster: { discover: ["http://seed:8008"] } });
    const members = [
        { name: "pg1", api_url: "http://pg1:8008/patroni", host: "10.0.0.1", port: 5432 },
        { name: "pg2", api_url: "http://pg2:8008/patroni", host: "fd00::2", port: 5432 },
        { name: "pg3", api_url: "http://pg3:8008/patroni" },
    ];
    watched.document("cluster", { of: "db1", value: { scope: "demo", members } }, 0);
    const file = join(folder, "written.json");
    await writeSavedState(file, snapshotOf(watched.cluster));
    assert.deepEqual(savedNodes(file).map(({ name, api, database }) => ({ name, api, database })), [
        { name: "pg1", api: "http://pg1:8008", database: { host: "10.0.0.1", port: 5432 } },
        { name: "pg2", api: "http://pg2:8008", database: { host: "fd00::2", port: 5432 } },
        { name: "pg3", api: "http://pg3:8008", database: null },
    ]);
    assert.deepEqual(readdirSync(folder).filter((name) => name.endsWith(".tmp")), []);
});
test("keeps a restored member that the first member list omits, like any other member that left", () => {
    assert.deepEqual(membersOf('{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"},{"name":"pg2","api":"http://pg2:8008"}]}}')
        .length, 2);
    const [restored] = restoreClusters(configOf({ clusters: [cluster] }), readSavedState(join(folder, "members.json"), [cluster]));
    assert.ok(restored !== undefined);
    const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
    watched.cluster = restored.cluster;
    const list = (atMs) => watched.document("cluster", { of: "pg1", value: { members: [{ name: "pg1", api_url: "http://pg1:8008" }] } }, atMs);
    list(60_000);
    assert.equal(watched.judge("pg2", "liveness", 60_000), "unknown");
    list(25 * 3_600_000);
    assert.equal(watched.judge("pg2", "liveness", 25 * 3_600_000), "no such node");
});
test("saves the incumbent, also of a cluster with fixed nodes, and breaks a tie with it after a restart", async () => {
    const fixed = clusterOf({ nodes: ["pg1", "pg2"].map((name) => nodeOf({ name, api: `http://${name}:8008` })) });
    const policy = { intervalMs: 1_000 };
    const first = new ClusterFixture({ nodes: ["pg1", "pg2"], policy });
    for (const atMs of [0, 1_000])
        first.lead("pg1", atMs);
    const file = join(folder, "stood.json");
    await writeSavedState(file, snapshotOf(first.cluster));
    for (const [one, other] of [
        ["pg1", "pg2"],
        ["pg2", "pg1"],
    ]) {
        const restarted = new ClusterFixture({ nodes: ["pg1", "pg2"], policy });
        const saved = readSavedState(file, [fixed]).clusters.get("demo");
        assert.equal(saved?.incumbent, "pg1");
        const { leadership } = restarted.cluster;
        restarted.cluster = { ...restarted.cluster, leadership: { ...leadership, incumbent: saved.incumbent } };
        restarted.lead(one, 10, { timeline: 1 });
        restarted.lead(other, 20, { timeline: 1 });
        for (const node of [one, other])
            restarted.nameLeader(node, node, 30);
        assert.deepEqual([restarted.judge("pg1", "/primary", 40), restarted.judge("pg2", "/primary", 40)], ["fit", "superseded"]);
    }
    writeFileSync(file, '{"clusters":{},"stood":{"demo":7}}');
    assert.equal(readSavedState(file, [fixed]).clusters.size, 0);
});
test("restores no member of a cluster without discovery", () => {
    assert.equal(membersOf('{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"}]}}').length, 1);
    assert.equal(readSavedState(join(folder, "members.json"), [clusterOf({})]).clusters.size, 0);
});
test("restores no member from a file that is absent or holds something else", () => {
    assert.equal(readSavedState(join(folder, "absent.json"), [cluster]).clusters.size, 0);
    for (const text of [
        "",
        "{",
        "[]",
        "null",
        '{"clusters":[]}',
        '{"clusters":{"demo":{}}}',
        '{"clusters":{"demo":[1,null,{}]}}',
    ]) {
        assert.deepEqual(membersOf(text), []);
    }
});
test("leaves out entries without a usable name and address", () => {
    const entries = [
        { name: "a", api: "http://h:99999" },
        { name: "b", api: "http://a b" },
        { name: "c\n", api: "http://h:1" },
        { api: "http://h:1" },
        { name: "pg1", api: "http://h:8008", database: "nonsense" },
    ];
    assert.deepEqual(membersOf(JSON.stringify({ clusters: { demo: entries } })), ["pg1 http://h:8008"]);
});
test("reads any JSON without throwing", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void membersOf(JSON.stringify({ clusters: { demo: value } }))), { numRuns: 50 });
    assert.ok(readFileSync(join(folder, "members.json"), "utf8").startsWith('{"clusters"'));
});
/** The problems of a file with this text. */
function problems(text) {
    const file = join(folder, "corrupt.json");
    writeFileSync(file, text);
    return readSavedState(file, [cluster]).problems;
}
test("reports a file that cannot be used, or only in part; not one that is absent or complete", () => {
    const whole = '{"clusters":{"demo":[{"name":"pg1","api":"http://pg1:8008"}]}}';
    assert.deepEqual(problems(whole), []);
    assert.deepEqual(problems('{"clusters":{}}'), []);
    for (const text of ["", "{", whole.slice(0, -2), "[]", "null", '{"clusters":[]}', "\u0000\u0000"])
        assert.equal(problems(text).length, 1, text);
    for (const demo of [
        "{}",
        '"x"',
        "[1]",
        '[{"name":"pg\\u202e1","api":"http://pg1:8008"}]',
        '[{"name":"pg1","api":"nonsense"}]',
    ])
        assert.match(problems(`{"clusters":{"demo":${demo}}}`).join(), /^members of cluster demo left out: (1|all)$/, demo);
    assert.deepEqual(readSavedState(join(folder, "absent.json"), [cluster]).problems, []);
    assert.match(readSavedState(folder, [cluster]).problems.join(), /EISDIR/);
});
test("does not read a file beyond the size limit", () => {
    const file = join(folder, "huge.json");
    writeFileSync(file, "{");
    truncateSync(file, 64 * 1024 * 1024);
    const saved = readSavedState(file, [cluster]);
    assert.equal(saved.clusters.size, 0);
    assert.match(saved.problems.join(), /must be at most \d+ bytes/);
});
test("bounds the members that are read and written, and prefers those that answered", async () => {
    const entries = Array.from({ length: 5_000 }, (_, at) => ({ name: `n${at}`, api: `http://n${at}:8008` }));
    assert.equal(membersOf(JSON.stringify({ clusters: { demo: entries } })).length, 2_000);
    const watched = new ClusterFixture({ nodes: [], cluster: { discover: ["http://seed:8008"] } });
    const list = (names, atMs) => {
        const members = names.map((name) => ({ name, api_url: `http://${name}:8008` }));
        watched.document("cluster", { of: "http://seed:8008", value: { scope: "demo", members } }, atMs);
    };
    list(["pg1"], 0);
    watched.lead("pg1", 0);
    list(entries.slice(0, 1_500).map(({ name }) => name), 1);
    const file = join(folder, "bounded.json");
    await writeSavedState(file, snapshotOf(watched.cluster));
    const names = savedNodes(file).map(({ name }) => name);
    assert.equal(names.length, 501);
    assert.equal(names[0], "pg1");
});
//# sourceMappingURL=saved-members.test.js.map