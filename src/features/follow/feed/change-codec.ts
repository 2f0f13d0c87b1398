import { documentMax } from "../../../core/cluster/documents/document-sizes.ts";
import { parseReport, type Report } from "../../../core/cluster/documents/report.ts";
import {
  outcomeKinds,
  type DocumentOutcome,
  type ProbeOutcome,
  type StatusOutcome,
} from "../../../core/cluster/outcome.ts";
import { documentNames } from "../../../core/cluster/snapshot.ts";
import { failureKinds, type Failure } from "../../../core/cluster/values/failure.ts";
import { isObject, type JsonObject } from "../../../core/cluster/values/json.ts";
import { parsePythonJson } from "../../../core/cluster/values/python-json.ts";
import { type Tag, tagLimits } from "../../../core/cluster/values/tags.ts";
import { withoutUnsafe } from "../../../core/cluster/values/unsafe-text.ts";
import { decodeOutcome, encodeOutcome } from "../../../core/outcomes/outcome-codec.ts";
import { readDocument } from "../../../core/probe/parse/parse-response.ts";
import { LastReports } from "./last-reports.ts";
import { detailMax, instantMax } from "./state-values.ts";
import { withPatch, patchOf } from "./text-patch.ts";

/** What is not remembered is written in full next time. The other end remembers more, and for longer. */
const remembered = {
  encoder: { forgetMs: 300_000, charactersMax: 24 * 1024 * 1024 },
  decoder: { forgetMs: 1_800_000, charactersMax: 32 * 1024 * 1024 },
} as const;

const kinds: ReadonlySet<unknown> = new Set(outcomeKinds);

/** What turns the ages of a message into instants. */
export interface MessageTime {
  /** When the message was sent at the earliest, in ms of the follower's clock. */
  readonly sentAtMs: number;
  /** Wall time minus the follower's clock, in ms. For people only. */
  readonly wallOffsetMs: number;
}

/**
 * Writes outcomes for followers: what a node has said, as it said it, and how long ago it was asked. Of a status document
 * that the followers have seen, only what differs is written.
 */
export class ChangeEncoder {
  readonly #lastReports = new LastReports(remembered.encoder);

  /** @param atMs when the message is sent, in ms of the owner's clock */
  encode(outcome: ProbeOutcome, atMs: number): JsonObject {
    const { cluster } = outcome;
    if (outcome.kind === "status") return { cluster, ...this.#status(outcome, atMs) };
    if (outcome.kind === "document") return { cluster, ...documentOf(outcome, atMs) };
    const { sentAtMs, ...change } = encodeOutcome(outcome);
    const age = typeof sentAtMs === "number" ? { ageMs: ageOf(sentAtMs, atMs) } : {};
    const failure = failureOf(outcome);
    const detail = failure === null ? {} : detailOf(failure);
    const { drain } = change;
    const left = isObject(drain) && outcome.kind === "drain" ? { drain: leftOf(drain, atMs) } : {};
    return { cluster, ...change, ...age, ...detail, ...left };
  }

  /** A new follower has seen no document yet: each is written in full next time. */
  reset(): void {
    this.#lastReports.clear();
  }

  #status({ cluster, node, sentAtMs, result }: StatusOutcome, atMs: number): JsonObject {
    const head = { kind: "status", node, ageMs: ageOf(sentAtMs, atMs) };
    if ("failure" in result) return { ...head, failure: result.failure.kind, ...detailOf(result.failure) };
    const { report, hasLock } = result;
    const last = this.#lastReports.get(cluster, node);
    this.#lastReports.set(cluster, node, { report, atMs });
    if (last === report) return { ...head, lock: hasLock, same: true };
    const said = { ...head, lock: hasLock, ...tagsOf(report) };
    if (last === undefined) return { ...said, text: saidText(report) };
    return { ...said, patch: patchOf(saidText(last), saidText(report)) };
  }
}

/** The receiving end of a {@link ChangeEncoder}. */
export class ChangeDecoder {
  readonly #lastReports = new LastReports(remembered.decoder);

  /**
   * @returns `null` if the change is damaged, or refers to a document that this follower has not seen; `ignored` if it is
   * of a kind that this version does not know
   */
  decode(change: unknown, time: MessageTime): ProbeOutcome | "ignored" | null {
    if (!isObject(change)) return null;
    const { cluster, kind, ageMs } = change;
    if (typeof cluster !== "string" || (ageMs !== undefined && !isAge(ageMs))) return null;
    if (!kinds.has(kind)) return "ignored";
    const sentAtMs = time.sentAtMs - (ageMs ?? 0);
    const sent = { cluster, sentAtMs, sentAtWallMs: sentAtMs + time.wallOffsetMs };
    const failure = failureIn(change);
    if (kind === "status") return this.#status(change, failure, sent);
    if (kind === "document") return readDocumentChange(change, sent);
    const relative = { ...change, sentAtMs: -(ageMs ?? 0) };
    const { drain } = change;
    const value = isObject(drain) ? { ...relative, drain: { ...drain, untilMs: drain["leftMs"] } } : relative;
    const outcome = decodeOutcome(cluster, value, { shiftMs: time.sentAtMs, sentOffsetMs: time.wallOffsetMs });
    return outcome === null || failure === null ? outcome : withFailure(outcome, failure);
  }

  /** Forgets all documents: the owner begins anew. */
  reset(): void {
    this.#lastReports.clear();
  }

  #status(
    { node, lock, text, patch, same, tags }: JsonObject,
    failure: Failure | null,
    sent: Omit<StatusOutcome, "kind" | "node" | "result">,
  ): StatusOutcome | null {
    if (typeof node !== "string") return null;
    if (failure !== null) return { kind: "status", node, ...sent, result: { failure } };
    const { cluster } = sent;
    const last = this.#lastReports.get(cluster, node);
    const read = same === true ? last : reportOf(typeof text === "string" ? text : patchedText(last, patch));
    if (read === undefined || typeof lock !== "boolean") return null;
    const report = Array.isArray(tags)
      ? { ...read, tags: new Map(tags.slice(0, tagLimits.count).flatMap(tagIn)) }
      : read;
    this.#lastReports.set(cluster, node, { report, atMs: sent.sentAtMs });
    return { kind: "status", node, ...sent, result: { report, hasLock: lock } };
  }
}

function documentOf({ answer: { name, served } }: DocumentOutcome, atMs: number): JsonObject {
  const { source, status, body, sentAtMs } = served;
  return { kind: "document", name, source, status, body, ageMs: ageOf(sentAtMs, atMs) };
}

function readDocumentChange(
  { name: written, source, status, body }: JsonObject,
  { cluster, sentAtMs }: { readonly cluster: string; readonly sentAtMs: number },
): DocumentOutcome | null {
  const name = documentNames.find((known) => known === written);
  if (name === undefined || typeof source !== "string" || typeof status !== "number" || typeof body !== "string")
    return null;
  if (body.length > documentMax.other) return null;
  const answer = readDocument(name, { status, body: Buffer.from(body) }, { source, sentAtMs });
  return "failure" in answer ? null : { kind: "document", cluster, answer };
}

/** What a node has said, as it said it. */
function saidText({ document, asWritten }: Report): string {
  return asWritten ?? document;
}

function reportOf(text: string | null): Report | undefined {
  return text === null || text.length > documentMax.report ? undefined : parseReport(parsePythonJson(text), text);
}

/** The texts of tags that are numbers, as the node has written them: `1.0` is `1` in the document that is kept. */
function tagsOf({ tags }: Report): JsonObject {
  if (![...tags.values()].some(({ text }) => /^-?\d/.test(text))) return {};
  return { tags: [...tags].map(([key, { text, isTrue }]) => [key, text, isTrue]) };
}

function tagIn(entry: unknown): readonly (readonly [string, Tag])[] {
  const [key, text, isTrue]: unknown[] = Array.isArray(entry) ? entry : [];
  if (typeof key !== "string" || typeof text !== "string" || key.length > tagLimits.length) return [];
  return [[key, { text: text.slice(0, tagLimits.length), isTrue: isTrue === true }]];
}

function patchedText(last: Report | undefined, patch: unknown): string | null {
  if (last === undefined || !Array.isArray(patch)) return null;
  const [prefix, suffix, middle]: unknown[] = patch;
  const isPatch = isCount(prefix) && isCount(suffix) && typeof middle === "string";
  return isPatch ? withPatch(saidText(last), [prefix, suffix, middle]) : null;
}

/** An age is never stated shorter than it is. */
function ageOf(sentAtMs: number, atMs: number): number {
  return Math.ceil((atMs - sentAtMs) * 100) / 100;
}

function detailOf({ detail }: Failure): { readonly detail?: string } {
  return detail === "" ? {} : { detail: detail.slice(0, detailMax) };
}

function leftOf({ untilMs, ...drain }: JsonObject, atMs: number): JsonObject {
  return { ...drain, leftMs: typeof untilMs === "number" ? untilMs - atMs : 0 };
}

function failureOf(outcome: ProbeOutcome): Failure | null {
  if (outcome.kind === "view_failure" || outcome.kind === "companion") return outcome.failure;
  return (outcome.kind === "exporter" || outcome.kind === "dcs") && "failure" in outcome.result
    ? outcome.result.failure
    : null;
}

function failureIn({ failure, detail }: JsonObject): Failure | null {
  const kind = failureKinds.find((known) => known === failure);
  if (kind === undefined) return null;
  return { kind, detail: typeof detail === "string" ? withoutUnsafe(detail.slice(0, detailMax)) : "" };
}

function withFailure(outcome: ProbeOutcome, failure: Failure): ProbeOutcome {
  if (outcome.kind === "view_failure" || outcome.kind === "companion") return { ...outcome, failure };
  if (outcome.kind === "exporter")
    return {
      ...outcome,
      result: outcome.result.endpoint === "up" ? { endpoint: "up", failure } : { endpoint: "metrics", failure },
    };
  return outcome.kind === "dcs" ? { ...outcome, result: { failure } } : outcome;
}

function isAge(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= instantMax;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
