/** Every field of all evidence comes back from every encoding that has it. */
import "../../../fake/property-seed.ts";
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { DcsRead } from "../../../../src/core/cluster/dcs.ts";
import type { DynamicConfig } from "../../../../src/core/cluster/documents/dynamic-config.ts";
import { parsePythonJson } from "../../../../src/core/cluster/values/python-json.ts";
import { parseReport, type Report, type Sender } from "../../../../src/core/cluster/documents/report.ts";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import * as evidence from "../../../../src/core/cluster/evidence/evidence-fields.ts";
import { absentOf, type FieldsOf, type SomeFields } from "../../../../src/core/cluster/evidence/fields.ts";
import { noExporterEvidence } from "../../../../src/core/cluster/exporter/exporter-evidence.ts";
import type { ExporterPage } from "../../../../src/core/cluster/exporter/exporter-report.ts";
import { impliedPage } from "../../../../src/core/cluster/incident/incident-exporter.ts";
import { unreadDcs } from "../../../../src/core/cluster/dcs.ts";
import type { ProbeOutcome, Recorded } from "../../../../src/core/cluster/outcome.ts";
import { incidentPieces } from "../../../../src/core/events/incident/incident-file.ts";
import { incidentSubject } from "../../../../src/core/events/incident/incident-subject.ts";
import { ChangeDecoder, ChangeEncoder } from "../../../../src/features/follow/feed/change-codec.ts";
import { schemaOfFields, storedForms, writerOfFields } from "../../../../src/core/outcomes/field-schemas.ts";
import { sentForms } from "../../../../src/features/follow/feed/observation-schema.ts";
import { formatOfFields, writtenFields } from "../../../../src/core/cluster/incident/written-fields.ts";
import { incidentKeys, readFields } from "../../../../src/features/replay/file/read-fields.ts";
import { Reading } from "../../../../src/features/replay/file/reading.ts";
import { outcomeLine } from "../../../../src/features/history/store/history-lines.ts";
import { decodeOutcome } from "../../../../src/core/outcomes/outcome-codec.ts";
import { readByFollower } from "../../../fake/adopting-fixture.ts";
import { statusDocument } from "../../../fake/node-documents.ts";
import { policyOf, unprobedCluster } from "../../health/arbitraries.ts";
import { readIncident } from "../../../incidents/play.ts";
import { arbitraryOf } from "./arbitrary-fields.ts";

/** One clock for all: that of an incident file begins with its first outcome. */
const atMs = 0;
const sent = { cluster: "demo", node: "pg1", sentAtMs: atMs, sentAtWallMs: atMs } as const;
const served = { status: 200, body: "", source: "pg1", sentAtMs: atMs } as const;
const subject = incidentSubject(unprobedCluster(), policyOf());

/** What a later reader of the history gets. */
function stored(outcome: ProbeOutcome): ProbeOutcome | null {
  const { o }: { readonly o: unknown } = JSON.parse(outcomeLine(outcome, { atMs, atWallMs: atMs }, "outcome"));
  return decodeOutcome("demo", o, { shiftMs: 0, sentOffsetMs: 0 });
}

/** What a follower gets of outcomes. */
function followed(outcomes: readonly ProbeOutcome[]): readonly unknown[] {
  const [encoder, decoder] = [new ChangeEncoder(), new ChangeDecoder()];
  return outcomes.map((outcome) =>
    decoder.decode(JSON.parse(JSON.stringify(encoder.encode(outcome, atMs))), { sentAtMs: atMs, wallOffsetMs: 0 }),
  );
}

/** What a replay gets of an incident file. */
function replayed(outcomes: readonly ProbeOutcome[]): readonly ProbeOutcome[] {
  return readIncident(incidentOf(outcomes), "any.yaml").moments.flatMap((moment) => moment.outcomes);
}

function incidentOf(outcomes: readonly ProbeOutcome[]): string {
  const recorded: readonly Recorded[] = outcomes.map((outcome) => ({ atMs, atWallMs: atMs, outcome }));
  return [...incidentPieces({ subject, instantMs: atMs, recorded, accused: new Map(), isComplete: true })].join("");
}

/** A type of evidence, and the outcomes that bring it. */
interface Evidence<R> {
  readonly fields: FieldsOf<R>;
  readonly any: fc.Arbitrary<R>;
  readonly outcome: (value: R) => ProbeOutcome;
  /** What a replay of an incident file with these values has in place of what such files do not have as it is. */
  readonly replayed: (value: R, all: readonly R[]) => Partial<R>;
}

function comesBack<R extends object>(what: string, { fields, any, outcome, replayed: inReplay }: Evidence<R>): void {
  const rows: SomeFields = Object.fromEntries(Object.entries(fields));
  const missing = Object.keys(rows).filter((key) => rows[key]?.history === false);
  const defaults = Object.entries(absentOf(fields)).filter(([key]) => missing.includes(key));

  test(`${what} comes back from the history`, () => {
    const check = (value: R): void =>
      assert.deepEqual(stored(outcome(value)), outcome({ ...value, ...Object.fromEntries(defaults) }));
    fc.assert(fc.property(any, check));
  });

  test(`${what} comes back from an incident file`, () => {
    const check = (values: readonly R[]): void =>
      assert.deepEqual(
        replayed(values.map(outcome)),
        values.map((value) => outcome({ ...value, ...inReplay(value, values) })),
      );
    fc.assert(fc.property(fc.tuple(any, any), check), { numRuns: 50 });
  });
}

const anyReport = arbitraryOf(evidence.reportFields);

for (const hasLock of [false, true])
  comesBack<Report>(`a report of a ${hasLock ? "leader" : "replica"}`, {
    fields: evidence.reportFields,
    any: anyReport,
    outcome: (report) => ({ kind: "status", ...sent, result: { report, hasLock } }),
    replayed: ({ startedAt }, all) => ({
      document: "{}",
      asWritten: null,
      // Starts are only compared: those that are all the same say nothing.
      startedAt:
        new Set(all.map((each) => each.startedAt)).size > 1 && all.every((each) => each.startedAt !== null)
          ? startedAt
          : null,
    }),
  });

comesBack<ExporterPage>("a page of an exporter", {
  fields: evidence.pageFields,
  any: arbitraryOf(evidence.pageFields),
  outcome: (page) => ({ kind: "exporter", ...sent, result: { endpoint: "metrics", page } }),
  replayed: () => {
    const { serverVersion, timeline, lagSeconds, isReplayPaused, samples } = impliedPage({
      scope: null,
      system: null,
      version: null,
      members: new Map(),
    });
    return { serverVersion, timeline, lagSeconds, isReplayPaused, samples };
  },
});

comesBack<Partial<DynamicConfig>>("a dynamic configuration", {
  fields: evidence.configFields,
  // A setting that cannot be read is not there.
  any: fc
    .tuple(arbitraryOf(evidence.configFields), fc.subarray(Object.keys(evidence.configFields)))
    .map(([config, unreadable]) =>
      Object.fromEntries(Object.entries(config).filter(([key]) => !unreadable.includes(key))),
    ),
  outcome: (config) => ({ kind: "document", cluster: "demo", answer: { name: "config", served, config } }),
  replayed: () => ({}),
});

comesBack<evidence.StatedCluster>("a cluster document", {
  fields: evidence.clusterFields,
  // Of a document whose leader cannot be read an incident file says that there is no view.
  any: arbitraryOf(evidence.clusterFields).filter(
    ({ leader, isLeaderUnreadable }) => leader !== null || !isLeaderUnreadable,
  ),
  outcome: (stated) => {
    const cluster = { ...stated, members: [], leftOut: [], isPartial: false };
    return { kind: "document", cluster: "demo", answer: { name: "cluster", served, cluster } };
  },
  replayed: ({ leader, leaderTimeline, scope }) => ({
    leaderApi: null,
    isLeaderUnreadable: false,
    leaderTimeline: leader === null ? null : leaderTimeline,
    scope: scope === subject.scope ? null : scope,
  }),
});

comesBack<DcsRead>("a read of the leader key", {
  fields: evidence.dcsFields,
  any: arbitraryOf(evidence.dcsFields),
  outcome: (read) => ({ kind: "dcs", cluster: "demo", sentAtMs: atMs, result: { read } }),
  replayed: () => ({}),
});

comesBack<Drain>("a drain", {
  fields: evidence.drainFields,
  any: arbitraryOf(evidence.drainFields),
  outcome: (drain) => ({ kind: "drain", cluster: "demo", node: "pg1", drain }),
  replayed: ({ untilMs }) => ({ since: new Date(atMs).toISOString(), until: new Date(untilMs).toISOString() }),
});

/** The text of a status document that says anything. */
const anyStatusText: fc.Arbitrary<string> = fc
  .record({
    report: anyReport,
    numbers: fc.constantFrom({}, { weight: 1.5, unsized: Number.NaN }),
    unreadable: fc.subarray(["sync_standby", "quorum_standby", "database_system_identifier", "replication", "tags"]),
  })
  .map(({ report, numbers, unreadable }) => {
    const { location, received, replayed: replayedTo, scope, name, version } = report;
    const document = statusDocument("pg1", {
      role: report.role,
      state: report.state,
      timeline: report.timeline,
      xlog: { location, received_location: received, replayed_location: replayedTo },
      replication_state: report.replicationState,
      replication: report.senders.map((row) => ({
        application_name: row.name,
        client_addr: row.address,
        state: row.state,
      })),
      sync_standby: report.isSyncStandby,
      quorum_standby: report.isQuorumStandby,
      failsafe_mode_is_active: report.isFailsafe,
      pause: report.isPaused,
      dcs_last_seen: report.dcsSeen,
      tags: { ...Object.fromEntries([...report.tags].map(([key, { text }]) => [key, text])), ...numbers },
      postmaster_start_time: report.startedAt,
      database_system_identifier: report.system,
      patroni: { version, scope, name },
      ...Object.fromEntries(unreadable.map((key) => [key, "unreadable"])),
    });
    return JSON.stringify(document, (_, value: unknown) => (Number.isNaN(value) ? "NaN" : value)).replaceAll(
      /"(NaN|unreadable)"/g,
      "NaN",
    );
  });

describe("the feed", () => {
  test("has all of a state", () => {
    const any = fc.record({
      report: anyReport,
      page: arbitraryOf(evidence.pageFields),
      config: arbitraryOf(evidence.configFields),
      read: arbitraryOf(evidence.dcsFields),
      drain: arbitraryOf(evidence.drainFields),
    });
    const check = ({
      report,
      page,
      config,
      read,
      drain,
    }: typeof any extends fc.Arbitrary<infer V> ? V : never): void => {
      const cluster = unprobedCluster();
      const [first, ...others] = cluster.nodes;
      assert.ok(first !== undefined);
      const nodes = [{ ...first, report, exporter: { ...noExporterEvidence, page } }, ...others];
      const dcs = { ...unreadDcs, read: { ...read, sentAtMs: atMs } };
      const state = { ...cluster, nodes, config, dcs, drains: new Map([["pg1", drain]]) };
      assert.deepEqual(readByFollower(state, 0, atMs), { ...state, source: null, sequence: 0, revision: 0 });
    };
    fc.assert(fc.property(any, check));
  });

  test("has all of outcomes", () => {
    const any = fc.oneof(
      arbitraryOf(evidence.pageFields).map((page): ProbeOutcome => ({
        kind: "exporter",
        ...sent,
        result: { endpoint: "metrics", page },
      })),
      arbitraryOf(evidence.dcsFields).map((read): ProbeOutcome => ({
        kind: "dcs",
        cluster: "demo",
        sentAtMs: atMs,
        result: { read },
      })),
      arbitraryOf(evidence.drainFields).map((drain): ProbeOutcome => ({
        kind: "drain",
        cluster: "demo",
        node: "pg1",
        drain,
      })),
    );
    fc.assert(fc.property(any, (outcome) => assert.deepEqual(followed([outcome]), [outcome])));
  });

  test("has each field of a report by the text that the node has answered", () => {
    const seen = new Map(Object.keys(evidence.reportFields).map((key) => [key, new Set<string>()]));
    const check = (texts: readonly string[]): void => {
      const outcomes = texts.map((text): ProbeOutcome => {
        const report = parseReport(parsePythonJson(text), text) ?? assert.fail(text);
        for (const [key, value] of Object.entries(report))
          seen.get(key)?.add(JSON.stringify(value instanceof Map ? [...value] : value));
        return { kind: "status", ...sent, result: { report, hasLock: true } };
      });
      assert.deepEqual(followed(outcomes), outcomes);
    };
    fc.assert(fc.property(fc.tuple(anyStatusText, anyStatusText), check));
    for (const [key, values] of seen) assert.ok(values.size > 1, `${key} was always the same`);
  });
});

describe("a new field", () => {
  const { name, address, state } = evidence.senderFields;
  // @ts-expect-error a field of the type without a row
  const incomplete: FieldsOf<Sender> = { name, address };
  // @ts-expect-error a row of another type than the field
  const mistyped: FieldsOf<Sender> = { name, address, state: { ...state, form: "count" } };
  // @ts-expect-error a row without a field
  const unknown: FieldsOf<Sender> = { name, address, state, pid: state };

  test("is a row: without it, or with another form, nothing compiles", () => {
    assert.ok([incomplete, mistyped, unknown].every((fields) => "name" in fields));
  });

  test("is nothing but a row", () => {
    type Newer = Sender & { readonly slot: string | null };
    const fields: FieldsOf<Newer> = {
      ...evidence.senderFields,
      slot: { form: "textOrNull", history: 2, feed: 2, incident: ["slot_name", 2], absent: null },
    };
    const check = (value: Newer): void => {
      const json = (written: object): unknown => JSON.parse(JSON.stringify(written));
      const inHistory = schemaOfFields(fields, "history", storedForms).parse(json(writerOfFields(fields)(value)));
      const inFeed = schemaOfFields(fields, "feed", sentForms).parse(json(value));
      const section = new Reading(json(writtenFields(fields, value, { slot: null })), "any");
      const repetition = { times: 0, passedMs: 0 };
      const inFile = readFields(fields, section.mapping(incidentKeys(fields)), { implied: { slot: null }, repetition });
      assert.deepEqual([inHistory, inFeed, inFile], [value, value, value]);
      assert.equal(formatOfFields(fields, value, { ...value, slot: null }), value.slot === null ? 1 : 2);
      // An earlier version passes over it, and its absence in what that has written has a meaning.
      const { slot: _, ...others } = value;
      assert.deepEqual(schemaOfFields(evidence.senderFields, "feed", sentForms).parse(json(value)), others);
      assert.deepEqual(schemaOfFields(fields, "feed", sentForms).parse(json(others)), { ...value, slot: null });
    };
    fc.assert(fc.property(arbitraryOf(fields), check));
  });
});

describe("the tables", () => {
  const all = Object.entries(evidence).filter(([name]) => name.endsWith("Fields")) as unknown as readonly (readonly [
    string,
    SomeFields,
  ])[];

  for (const [name, fields] of all) {
    test(`${name}: what is not in every version says what its absence means`, () => {
      for (const [key, { history, feed, absent, follows }] of Object.entries(fields))
        assert.ok((history !== 2 && feed !== 2) || absent !== undefined || follows !== undefined, key);
    });

    test(`${name}: no key of incident files is of two fields`, () => {
      const keys = Object.values(fields).flatMap(({ incident }) => (incident === false ? [] : [incident[0]]));
      assert.deepEqual([...new Set(keys)], keys);
    });
  }
});
