import { parse } from "yaml";
import type { IncidentCluster } from "../../src/cluster/incident/incident-yaml.ts";
import type { Node } from "../../src/cluster/node.ts";
import type { ProbeOutcome } from "../../src/cluster/outcome.ts";
import { parseDatabaseAddress } from "../../src/health/check.ts";
import { defaultGuards } from "../../src/health/guards.ts";
import type { HealthPolicy } from "../../src/health/health-policy.ts";
import { Reading } from "./reading.ts";
import { outcomesOf, sectionNames } from "./sections.ts";

/**
 * A parsed incident file: the recorded outcomes with their instants, and the expected answers. Format:
 * docs/incidents.md.
 */
export interface Incident {
  readonly name: string;
  readonly why: string;
  readonly cluster: string;
  readonly scope: string | null;
  readonly nodes: readonly Node[];
  /** The initial accusations, by node name. */
  readonly accused: ReadonlyMap<string, readonly Accusation[]>;
  readonly policy: HealthPolicy;
  /** Sorted by instant. A repeated step appears once for each repetition. */
  readonly moments: readonly Moment[];
  /** How often an answer may change over the whole incident. */
  readonly flips: readonly { readonly question: string; readonly least: number; readonly most: number }[];
}

export type Accusation = "detached" | "stalled";

/** One instant: the recorded outcomes, then the expected answers. */
export interface Moment {
  readonly place: string;
  readonly atMs: number;
  readonly outcomes: readonly ProbeOutcome[];
  /** `pg2 /replica?lag=1MB` -> the expected answer. */
  readonly expected: readonly (readonly [string, string])[];
}

/** The maximum number of moments in a file. A mistake in `every` must not hang the runner. */
const momentsMax = 100_000;

/** Reads an incident file. @throws Error that names the file, the step and the key of an invalid value */
export function readIncident(text: string, file: string): Incident {
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
  const of: IncidentCluster = {
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

interface StepSurroundings {
  readonly of: IncidentCluster;
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly place: string;
}

function momentsOf(step: Reading, context: StepSurroundings): readonly Moment[] {
  const value = step.at(context.place).mapping(["at", "sent", "until", "every", ...sectionNames, "expect"]);
  const fromMs = value("at").instant();
  const place = `${context.place} (at ${value("at").text()})`;
  const inPlace = step.at(place).mapping(["at", "sent", "until", "every", ...sectionNames, "expect"]);
  const tillMs = inPlace("until").instant(fromMs);
  const everyMs = inPlace("every").span(1_000);
  const sentAgoMs = fromMs - inPlace("sent").instant(fromMs);
  if (everyMs === 0 || (tillMs - fromMs) / everyMs > momentsMax)
    throw inPlace("every").refusal(`a span with at most ${momentsMax} repetitions`);
  const moments: Moment[] = [];
  for (let times = 0; fromMs + times * everyMs <= tillMs; times += 1) {
    const passedMs = times * everyMs;
    const atMs = fromMs + passedMs;
    const here = { ...context, atMs, sentAtMs: atMs - sentAgoMs, repetition: { times, passedMs } };
    const outcomes = sectionNames.flatMap((name) =>
      inPlace(name).isAbsent ? [] : outcomesOf(name, inPlace(name), here),
    );
    const expected = inPlace("expect").isAbsent ? [] : inPlace("expect").entries().map(answerOf);
    moments.push({ place, atMs, outcomes, expected });
  }
  return moments;
}

function answerOf([question, answer]: readonly [string, Reading]): readonly [string, string] {
  return [question, answer.text()];
}

function flipsOf([question, limit]: readonly [string, Reading]): Incident["flips"][number] {
  const match = /^at (most|least) (\d+)$/.exec(limit.text());
  if (match === null) throw limit.refusal("at most N or at least N");
  const count = Number(match[2]);
  return match[1] === "most" ? { question, least: 0, most: count } : { question, least: count, most: Infinity };
}

const nodeKeys = ["name", "member", "database", "archive_fed", "exporter_only", "accused"];

function accusedOf(section: Reading): readonly [string, readonly Accusation[]] {
  if (section.isText) return [section.text(), []];
  const value = section.mapping(nodeKeys);
  const words = value("accused").isAbsent ? [] : value("accused").list();
  return [value("name").text(), words.map((word) => word.oneOf(["detached", "stalled"] as const))];
}

function nodeOf(section: Reading): Node {
  const plain = { isMemberFixed: true, exporter: null, isFixed: true };
  if (section.isText) {
    const name = section.text();
    return { ...plain, name, member: name, api: `http://${name}`, database: null, isArchiveFed: false };
  }
  const value = section.mapping(nodeKeys);
  const name = value("name").text();
  const stated = value("database").isAbsent ? null : parseDatabaseAddress(value("database").text());
  if (stated === undefined) throw value("database").refusal("host:port");
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

function settingsOf(section: Reading): HealthPolicy {
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
