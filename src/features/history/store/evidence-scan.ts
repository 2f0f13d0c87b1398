import type { Recorded } from "../../../core/cluster/outcome.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import type { Accused } from "../../../core/events/accusation-history.ts";
import type { IncidentNode, IncidentSubject } from "../../../core/events/incident/incident-subject.ts";
import {
  accusedOfLine,
  clockInstantOf,
  parseLine,
  readLineHead,
  subjectOfLine,
  type HistoryLine,
} from "./history-lines.ts";
import type { StoredEvidence } from "../../../core/events/stored/past.ts";
import { decodeOutcome } from "../../../core/outcomes/outcome-codec.ts";

/** Which evidence is wanted, and the clock of this process. */
export interface EvidenceQuery {
  readonly cluster: string;
  readonly fromWallMs: number;
  readonly toWallMs: number;
  /** The instant whose evidence is most important: what is farthest from it is left out first. */
  readonly aroundWallMs: number;
  /** Names this process, as in its own lines. */
  readonly run: string;
  /** Wall-clock time minus the clock of this process, in ms. */
  readonly wallOffsetMs: number;
}

/** How much evidence is kept in memory for one request, in characters of its lines. */
const lengthMax = 8 * 1024 * 1024;

/** A record, and the length of its line in characters. */
interface Found {
  readonly recorded: Recorded;
  readonly length: number;
}

/** Collects the evidence of one cluster and time from lines in their order. */
export class EvidenceScan {
  readonly #query: EvidenceQuery;
  readonly #clusterField: string;
  readonly #held = new Map<string, Recorded>();
  #subject: IncidentSubject | null = null;
  readonly #nodes = new Map<string, IncidentNode>();
  #accused: Accused = new Map();
  #found: Found[] = [];
  #first = 0;
  #isComplete = true;
  #length = 0;
  /** What to add to instants of the lines, in ms. */
  #shiftMs = 0;

  constructor(query: EvidenceQuery) {
    this.#query = query;
    this.#clusterField = `"c":${JSON.stringify(query.cluster)},`;
  }

  get result(): StoredEvidence {
    const recorded = this.#found.slice(this.#first).map((found) => found.recorded);
    return {
      subject: this.#subject === null ? null : { ...this.#subject, nodes: [...this.#nodes.values()] },
      recorded: [...this.#held.values(), ...recorded],
      accused: this.#accused,
      isComplete: this.#isComplete,
    };
  }

  /** Reads one line. @returns `past` if it and all further lines of the file are too new; `damaged` if it has no use */
  add(text: string): "read" | "past" | "damaged" {
    const line = readLineHead(text);
    if (line === null) return text === "" ? "read" : "damaged";
    if (line.atMs > this.#query.toWallMs) return "past";
    return this.#isWanted(line) && !this.#read(line) ? "damaged" : "read";
  }

  /** Whether a line must be parsed. Most need not, and parsing takes most of the time. */
  #isWanted({ atMs, kind, text }: HistoryLine): boolean {
    if (kind === "start") return true;
    if (!text.startsWith(this.#clusterField, text.indexOf('"c":'))) return false;
    if (kind === "cluster") return true;
    const isBefore = atMs < this.#query.fromWallMs;
    return kind === "outcome" ? !isBefore || text.includes('"kind":"drain"') : isBefore;
  }

  #read(line: HistoryLine): boolean {
    const body = parseLine(line);
    if (body === null) return false;
    if (line.kind === "start") return this.#restart(line, body["run"], clockInstantOf(body));
    if (line.kind === "cluster") return this.#describe(line, body);
    if (line.kind === "accused") this.#accused = accusedOfLine(body);
    if (line.kind !== "outcome" && line.kind !== "held") return true;
    const { cluster, wallOffsetMs: sentOffsetMs, fromWallMs } = this.#query;
    const outcome = decodeOutcome(cluster, body["o"], { shiftMs: this.#shiftMs, sentOffsetMs });
    const m = clockInstantOf(body);
    if (outcome === null || m === null) return false;
    const recorded = { atMs: m + this.#shiftMs, atWallMs: line.atMs, outcome };
    if (line.atMs >= fromWallMs) this.#keep(recorded, line.text.length);
    else if (outcome.kind === "drain") {
      const isInForce = outcome.drain !== null && outcome.drain.untilMs > fromWallMs - sentOffsetMs;
      if (isInForce) this.#held.set(outcome.node, recorded);
      else this.#held.delete(outcome.node);
    }
    return true;
  }

  /** What holds for the cluster from here on. A node that left in the wanted time still has steps. */
  #describe({ atMs }: HistoryLine, body: JsonObject): boolean {
    const { cluster, fromWallMs } = this.#query;
    const subject = subjectOfLine(cluster, body);
    if (subject === null) return false;
    this.#subject = subject;
    if (atMs < fromWallMs) this.#nodes.clear();
    for (const node of subject.nodes) this.#nodes.set(node.name, node);
    return true;
  }

  /** Another process, or another file: what held at its beginning follows. */
  #restart({ atMs }: HistoryLine, run: unknown, instant: number | null): boolean {
    if (instant === null) return false;
    const { wallOffsetMs, fromWallMs } = this.#query;
    this.#shiftMs = run === this.#query.run ? 0 : atMs - instant - wallOffsetMs;
    if (atMs >= fromWallMs) return true;
    this.#held.clear();
    this.#accused = new Map();
    return true;
  }

  /** Keeps a record. If there are too many, those farthest from the wanted instant are dropped, on either side. */
  #keep(recorded: Recorded, length: number): void {
    this.#found.push({ recorded, length });
    this.#length += length;
    while (this.#length > lengthMax) this.#dropFarthest();
    if (this.#first < 10_000) return;
    this.#found = this.#found.slice(this.#first);
    this.#first = 0;
  }

  #dropFarthest(): void {
    this.#isComplete = false;
    const [first, last] = [this.#found[this.#first], this.#found.at(-1)];
    if (first === undefined || last === undefined) return void (this.#length = 0);
    const distance = ({ recorded }: Found): number => Math.abs(recorded.atWallMs - this.#query.aroundWallMs);
    const isFirst = distance(first) >= distance(last);
    if (isFirst) this.#first += 1;
    else this.#found.pop();
    this.#length -= isFirst ? first.length : last.length;
  }
}
