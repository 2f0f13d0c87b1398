import { parse } from "yaml";
import { parseDatabaseAddress } from "../../src/health/check.js";
import { defaultGuards } from "../../src/health/guards.js";
import { Reading } from "./reading.js";
import { outcomesOf, sectionNames } from "./sections.js";
/** The maximum number of moments in a file. A mistake in `every` must not hang the runner. */
const momentsMax = 100_000;
/** Reads an incident file. @throws Error that names the file, the step and the key of an invalid value */
export function readIncident(text, file) {
    const value = new Reading(parse(text), file).mapping([
        "name",
        "why",
        "began",
        "cluster",
        "settings",
        "steps",
        "flips",
    ]);
    const clusterValue = value("cluster").mapping(["scope", "system", "version", "nodes"]);
    const nodes = clusterValue("nodes").list().map(nodeOf);
    const of = {
        scope: clusterValue("scope").statement("demo"),
        system: clusterValue("system").statement("7300000000000000001"),
        version: clusterValue("version").statement("4.1.4"),
        members: new Map(nodes.map(({ name, member }) => [name, member])),
    };
    const cluster = of.scope ?? "incident";
    const context = { of, cluster, nodes: nodes.map(({ name }) => name) };
    const moments = value("steps")
        .list()
        .flatMap((step, index) => momentsOf(step, { ...context, place: `${file}, step ${index + 1}` }));
    return {
        name: value("name").text(),
        why: value("why").text(),
        cluster,
        scope: of.scope,
        nodes,
        accused: new Map(clusterValue("nodes").list().map(accusedOf)),
        policy: settingsOf(value("settings")),
        moments: moments.toSorted((one, other) => one.atMs - other.atMs),
        flips: value("flips").isAbsent ? [] : value("flips").entries().map(flipsOf),
    };
}
function momentsOf(step, context) {
    const value = step.at(context.place).mapping(["at", "sent", "until", "every", ...sectionNames, "expect"]);
    const fromMs = value("at").instant();
    const place = `${context.place} (at ${value("at").text()})`;
    const inPlace = step.at(place).mapping(["at", "sent", "until", "every", ...sectionNames, "expect"]);
    const tillMs = inPlace("until").instant(fromMs);
    const everyMs = inPlace("every").span(1_000);
    const sentAgoMs = fromMs - inPlace("sent").instant(fromMs);
    if (everyMs === 0 || (tillMs - fromMs) / everyMs > momentsMax)
        throw inPlace("every").refusal(`a span with at most ${momentsMax} repetitions`);
    const moments = [];
    for (let times = 0; fromMs + times * everyMs <= tillMs; times += 1) {
        const passedMs = times * everyMs;
        const atMs = fromMs + passedMs;
        const here = { ...context, atMs, sentAtMs: atMs - sentAgoMs, repetition: { times, passedMs } };
        const outcomes = sectionNames.flatMap((name) => inPlace(name).isAbsent ? [] : outcomesOf(name, inPlace(name), here));
        const expected = inPlace("expect").isAbsent ? [] : inPlace("expect").entries().map(answerOf);
        moments.push({ place, atMs, outcomes, expected });
    }
    return moments;
}
function answerOf([question, answer]) {
    return [question, answer.text()];
}
function flipsOf([question, limit]) {
    const match = /^at (most|least) (\d+)$/.exec(limit.text());
    if (match === null)
        throw limit.refusal("at most N or at least N");
    const count = Number(match[2]);
    return match[1] === "most" ? { question, least: 0, most: count } : { question, least: count, most: Infinity };
}
const nodeKeys = ["name", "member", "database", "archive_fed", "exporter_only", "accused"];
function accusedOf(section) {
    if (section.isText)
        return [section.text(), []];
    const value = section.mapping(nodeKeys);
    const words = value("accused").isAbsent ? [] : value("accused").list();
    return [value("name").text(), words.map((word) => word.oneOf(["detached", "stalled"]))];
}
function nodeOf(section) {
    const plain = { isMemberFixed: true, exporter: null, isFixed: true };
    if (section.isText) {
        const name = section.text();
        return { ...plain, name, member: name, api: `http://${name}`, database: null, isArchiveFed: false };
    }
    const value = section.mapping(nodeKeys);
    const name = value("name").text();
    const stated = value("database").isAbsent ? null : parseDatabaseAddress(value("database").text());
    if (stated === undefined)
        throw value("database").refusal("host:port");
    const member = value("member").text(name);
    const asked = value("exporter_only").flag(false)
        ? { api: null, exporter: `http://${name}:9630` }
        : { api: `http://${name}` };
    return { ...plain, ...asked, name, member, database: stated, isArchiveFed: value("archive_fed").flag(false) };
}
const settingKeys = [
    "interval",
    "timeout",
    "max_age",
    "liveness_max_age",
    "view_max_age",
    "page_max_age",
    "fall",
    "rise",
    "guards",
];
const guardKeys = [
    "exclusive_primary",
    "running_primary",
    "attached_replica",
    "same_system",
    "attach_window",
    "demoted_for",
    "lag_samples",
    "dwell",
    "handover_hold",
    "survive",
];
function settingsOf(section) {
    const value = (section.isAbsent ? new Reading({}, "settings") : section).mapping(settingKeys);
    const intervalMs = value("interval").span(1_000);
    const maxAgeMs = value("max_age").span(5_500);
    const guards = (value("guards").isAbsent ? new Reading({}, "guards") : value("guards")).mapping(guardKeys);
    return {
        intervalMs,
        timeoutMs: value("timeout").span(2_500),
        maxAgeMs,
        livenessMaxAgeMs: value("liveness_max_age").span(maxAgeMs + 27 * intervalMs),
        viewMaxAgeMs: value("view_max_age").span(maxAgeMs + 6 * intervalMs),
        pageMaxAgeMs: value("page_max_age").span(maxAgeMs + 6 * intervalMs),
        fall: value("fall").count(3),
        rise: value("rise").count(1),
        discovers: false,
        guards: {
            exclusivePrimary: guards("exclusive_primary").flag(defaultGuards.exclusivePrimary),
            runningPrimary: guards("running_primary").flag(defaultGuards.runningPrimary),
            attachedReplica: guards("attached_replica").flag(defaultGuards.attachedReplica),
            sameSystem: guards("same_system").flag(defaultGuards.sameSystem),
            attachWindowMs: guards("attach_window").span(defaultGuards.attachWindowMs),
            demotedForMs: guards("demoted_for").span(defaultGuards.demotedForMs),
            lagSamples: guards("lag_samples").count(defaultGuards.lagSamples),
            dwellMs: guards("dwell").span(defaultGuards.dwellMs),
            handoverHoldMs: guards("handover_hold").span(defaultGuards.handoverHoldMs),
            surviveMs: guards("survive").span(defaultGuards.surviveMs),
        },
    };
}
//# sourceMappingURL=incident.js.map