import { type KnownLimits, ownLimitSources } from "../../../core/cluster/lag-limit.ts";
import { type IncidentCluster, incidentFormats } from "../../../core/cluster/incident/incident-yaml.ts";
import type { Node } from "../../../core/cluster/node.ts";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import { parseDatabaseAddress } from "../../../core/health/check.ts";
import type { HealthPolicy } from "../../../core/health/health-policy.ts";
import { companionsAllowed, parseCompanions } from "../../../core/cluster/values/companion-name.ts";
import { Reading } from "./reading.ts";
import { isZone, parseZones, zoneAllowed, zonesAllowed } from "../../../core/cluster/values/zone.ts";
import { settingsOf } from "./settings.ts";
import { outcomesOf, sectionNames } from "./sections.ts";
import type { Surroundings } from "./surroundings.ts";
import { routes } from "../../../core/health/route.ts";

/**
 * A parsed incident file: the recorded outcomes with their instants, and the expected answers. Format:
 * docs/incidents.md.
 */
export interface IncidentFile extends ReplayedCluster {
  readonly name: string;
  readonly why: string;
  /** When the clock of the file was 0, in ms since the epoch; `null` if the file does not state it. */
  readonly beganWallMs: number | null;
  /** The limits for lag when the file was made; `null` if the file does not state them. */
  readonly limits: KnownLimits | null;
  /**
   * Sorted by instant, those of sources first. A repeated step appears once for each repetition.
   */
  readonly moments: readonly Moment[];
  /** How often an answer may change over the whole incident. */
  readonly flips: readonly { readonly question: string; readonly least: number; readonly most: number }[];
}

/** A cluster of an incident file: the one that it is about, or a source. */
export interface ReplayedCluster {
  readonly cluster: string;
  readonly scope: string | null;
  readonly nodes: readonly Node[];
  /** The names of the members that joined after the beginning. */
  readonly joinedLater: ReadonlySet<string>;
  /** Whether the file has reads of the DCS: then its state is part of the replay. */
  readonly hasDcs: boolean;
  /** The initial accusations, by node name. */
  readonly accused: ReadonlyMap<string, readonly InitialAccusation[]>;
  readonly policy: HealthPolicy;
  /** The cluster that it replicates from, as the file states it; `null` if it states none. */
  readonly source: ReplayedCluster | null;
}

export type InitialAccusation = "detached" | "stalled";

/** One instant: the recorded outcomes, then the expected answers. */
export interface Moment {
  readonly place: string;
  readonly atMs: number;
  readonly outcomes: readonly ProbeOutcome[];
  /** `pg2 /replica?lag=1MB` -> the expected answer. */
  readonly expected: readonly (readonly [string, string])[];
}

/** The largest number of moments in a file, and of outcomes. A mistake in `every` must not hang the program. */
const momentsMax = 100_000;
const outcomesMax = 1_000_000;
/** The largest number of values, of repeated steps too: a step of many values that is repeated must not hang either. */
const valuesMax = 20_000_000;
const flipsMax = 100;

const fileKeys = ["format", "name", "why", "began", "cluster", "settings", "limits", "source", "steps", "flips", "end"];
const sourceKeys = ["cluster", "settings", "source", "steps"];

/**
 * Reads an incident file.
 * @param document the parsed YAML
 * @param file its name, for messages
 * @throws Error that names the file, the step and the key of an invalid value
 */
export function readIncidentFile(document: unknown, file: string): IncidentFile {
  const root = new Reading(document, file);
  const value = wholeFile(root, file);
  const began = value("began").isAbsent ? null : value("began").wallTime();
  const read = new ClusterReading(began ?? 0);
  const described = read.cluster(value, file);
  return {
    ...described,
    name: value("name").text(),
    why: value("why").text(),
    beganWallMs: began,
    limits: value("limits").isAbsent ? null : limitsOf(value("limits")),
    moments: read.moments.toSorted((one, other) => one.atMs - other.atMs),
    flips: value("flips").isAbsent ? [] : allFlips(value("flips")),
  };
}

/** The values of the file by key. @throws Error for another format, and for a recording whose end is missing */
function wholeFile(root: Reading, file: string): (key: string) => Reading {
  const format = root.entries().find(([key]) => key === "format")?.[1];
  if (format !== undefined && !incidentFormats.some((known) => known === format.raw()))
    throw format.refusal(`${incidentFormats.join(" or ")}, the formats of this version`);
  const value = root.mapping(fileKeys);
  if (format !== undefined && value("end").isAbsent)
    throw new Error(`Cannot read ${file}: its last key must be end, got a file that is cut off`);
  return value;
}

/** Reads the clusters of a file: the one that it is about, and its sources. */
class ClusterReading {
  /** Those of sources come first. */
  readonly moments: Moment[] = [];
  readonly #beganWallMs: number;
  readonly #names = new Set<string>();
  readonly #count: { moments: number; outcomes: number; values: number } = { moments: 0, outcomes: 0, values: 0 };

  constructor(beganWallMs: number) {
    this.#beganWallMs = beganWallMs;
  }

  cluster(value: (key: string) => Reading, place: string): ReplayedCluster {
    const clusterValue = value("cluster").mapping(["name", "scope", "system", "version", "nodes"]);
    const nodes = clusterValue("nodes").list().map(nodeOf);
    const of: IncidentCluster = {
      scope: clusterValue("scope").statement("demo"),
      system: clusterValue("system").statement("7300000000000000001"),
      version: clusterValue("version").statement("4.1.4"),
      members: new Map(nodes.map(({ name, member }) => [name, member])),
    };
    const cluster = clusterValue("name").text(of.scope ?? "incident");
    if (this.#names.has(cluster)) throw clusterValue("name").refusal("another name than that of its standby cluster");
    this.#names.add(cluster);
    const inSource = value("source").isAbsent ? null : value("source").mapping(sourceKeys);
    const source = inSource === null ? null : this.cluster(inSource, `${place}.source`);
    const context = { of, cluster, nodes: nodes.map(({ name }) => name), beganWallMs: this.#beganWallMs };
    const moments = this.#momentsOf(value("steps"), context, place);
    for (const moment of moments) this.moments.push(moment);
    const hasDcs = moments.some(({ outcomes }) => outcomes.some(({ kind }) => kind === "dcs"));
    const accused = new Map(clusterValue("nodes").list().map(accusedOf));
    const joinedLater = new Set(clusterValue("nodes").list().flatMap(joinedOf));
    return {
      cluster,
      scope: of.scope,
      nodes,
      joinedLater,
      hasDcs,
      accused,
      policy: settingsOf(value("settings")),
      source,
    };
  }

  #momentsOf(steps: Reading, context: FileSurroundings, inFile: string): readonly Moment[] {
    const count = this.#count;
    return steps.list().flatMap((step, index) => {
      const place = `${inFile}, step ${index + 1}`;
      const stepValues = valuesIn(step.raw());
      const refuseTooMuch = (): void => {
        if (count.moments <= momentsMax && count.outcomes <= outcomesMax && count.values <= valuesMax) return;
        const allowed = `at most ${momentsMax} moments with ${outcomesMax} observations and ${valuesMax} values`;
        throw new Error(`Cannot read ${place}: the steps of a file must have ${allowed}, got more`);
      };
      return momentsOf(step, {
        ...context,
        place,
        reserve: (times) => {
          count.moments += times;
          count.values += times * stepValues;
          refuseTooMuch();
        },
        count: (more) => {
          count.outcomes += more;
          refuseTooMuch();
        },
      });
    });
  }
}

/** How many values a part of the document has, in all its lists and mappings. */
function valuesIn(part: unknown): number {
  if (typeof part !== "object" || part === null) return 1;
  return Object.values(part).reduce<number>((sum, value) => sum + valuesIn(value), 1);
}

type FileSurroundings = Pick<Surroundings, "of" | "cluster" | "nodes" | "beganWallMs">;

interface StepSurroundings extends FileSurroundings {
  readonly place: string;
  /** Counts the moments of a step, before any of them is read. @throws Error if there are too many */
  readonly reserve: (times: number) => void;
  /** Counts the outcomes of a moment. @throws Error if there are too many */
  readonly count: (outcomes: number) => void;
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
  context.reserve(Math.floor((tillMs - fromMs) / everyMs) + 1);
  const moments: Moment[] = [];
  for (let times = 0; fromMs + times * everyMs <= tillMs; times += 1) {
    const passedMs = times * everyMs;
    const atMs = fromMs + passedMs;
    const here = { ...context, atMs, sentAtMs: atMs - sentAgoMs, repetition: { times, passedMs } };
    const outcomes = sectionNames.flatMap((name) =>
      inPlace(name).isAbsent ? [] : outcomesOf(name, inPlace(name), here),
    );
    const expected = inPlace("expect").isAbsent ? [] : inPlace("expect").entries().map(answerOf);
    context.count(outcomes.length + expected.length);
    moments.push({ place, atMs, outcomes, expected });
  }
  return moments;
}

function answerOf([question, answer]: readonly [string, Reading]): readonly [string, string] {
  return [question, answer.text()];
}

function allFlips(section: Reading): IncidentFile["flips"] {
  const entries = section.entries();
  if (entries.length > flipsMax) throw section.refusal(`at most ${flipsMax} entries`);
  return entries.map(flipsOf);
}

function flipsOf([question, limit]: readonly [string, Reading]): IncidentFile["flips"][number] {
  const match = /^at (most|least) (\d+)$/.exec(limit.text());
  if (match === null) throw limit.refusal("at most N or at least N");
  const count = Number(match[2]);
  return match[1] === "most" ? { question, least: 0, most: count } : { question, least: count, most: Infinity };
}

const nodeKeys = ["name", "member", "database", "archive_fed", "zone", "exporter_only", "joined", "accused"];

function accusedOf(section: Reading): readonly [string, readonly InitialAccusation[]] {
  if (section.isText) return [section.text(), []];
  const value = section.mapping(nodeKeys);
  const accusations = value("accused").isAbsent ? [] : value("accused").list();
  return [value("name").text(), accusations.map((each) => each.oneOf(["detached", "stalled"] as const))];
}

/** Its name, if the node joined after the beginning. When it did is for readers: it joins with its first step. */
function joinedOf(section: Reading): readonly string[] {
  if (section.isText) return [];
  const value = section.mapping(nodeKeys);
  if (value("joined").isAbsent) return [];
  value("joined").span(0);
  return [value("name").text()];
}

function nodeOf(section: Reading): Node {
  const plain = { isMemberFixed: true, exporter: null, isFixed: true };
  if (section.isText) {
    const name = section.text();
    return { ...plain, name, member: name, api: `http://${name}`, database: null, isArchiveFed: false, zone: null };
  }
  const value = section.mapping(nodeKeys);
  const name = value("name").text();
  const stated = value("database").isAbsent ? null : parseDatabaseAddress(value("database").text());
  if (stated === undefined) throw value("database").refusal("host:port");
  const zone = value("zone").isAbsent ? null : value("zone").text();
  if (zone !== null && !isZone(zone)) throw value("zone").refusal(zoneAllowed);
  const member = value("member").text(name);
  const probed = value("exporter_only").flag(false)
    ? { api: null, exporter: `http://${name}:9630` }
    : { api: `http://${name}` };
  return { ...plain, ...probed, name, member, database: stated, isArchiveFed: value("archive_fed").flag(false), zone };
}

/** How many limits a file may state. A recorded file states fewer. */
const limitsMax = 100;

/**
 * Reads the limits for lag that an incident file states. `known` is the time at which rolecall had these limits. No
 * verdict depends on them: they are only shown.
 */
function limitsOf(section: Reading): KnownLimits {
  const value = section.mapping(["known", "lag"]);
  const limits = value("lag").list();
  if (limits.length > limitsMax) throw value("lag").refusal(`a list of at most ${limitsMax} limits`);
  return { atWallMs: value("known").wallTime(), limits: limits.map(limitOf) };
}

function limitOf(section: Reading): KnownLimits["limits"][number] {
  const value = section.mapping(["source", "route", "lag_bytes", "lag_ms", "keep", "fallback_primary", "zone", "with"]);
  const figure = (key: string): number | null => (value(key).isAbsent ? null : value(key).count(0));
  const [lagBytes, lagMs] = [figure("lag_bytes"), figure("lag_ms")];
  if (lagBytes === null && lagMs === null) throw section.refusal("a limit with lag_bytes, lag_ms or both");
  const zones = value("zone").isAbsent ? [] : parseZones(value("zone").text());
  if (zones === undefined) throw value("zone").refusal(zonesAllowed);
  const companions = value("with").isAbsent ? [] : parseCompanions(value("with").text());
  if (companions === undefined) throw value("with").refusal(companionsAllowed);
  return {
    source: value("source").oneOf(ownLimitSources),
    route: value("route").isAbsent ? null : value("route").oneOf(routes),
    lag_bytes: lagBytes,
    lag_ms: lagMs,
    keep: value("keep").count(0),
    fallback_primary: value("fallback_primary").flag(false),
    ...(zones.length === 0 ? {} : { zones }),
    ...(companions.length === 0 ? {} : { with: companions }),
  };
}
