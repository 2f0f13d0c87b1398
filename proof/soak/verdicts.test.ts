import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { explanationOf } from "./explanations.ts";
import type { DoneAction, LoggedLine, SoakRecords } from "./records.ts";
import type { ProcessSample } from "./sample.ts";
import { outcomeOf } from "./verdicts.ts";

const hourMs = 3_600_000;
const counts = {
  answers: 9,
  yes: 5,
  unanswered: 0,
  agentAnswers: 1,
  late: 0,
  unexplainedLosses: 0,
  wrong: 0,
  excused: 0,
};

/** A sample of a process whose figures are constant, but for what `grown` adds. */
function sampleAt(
  atMs: number,
  pid: number,
  grown: { readonly rss?: number; readonly timers?: number },
): ProcessSample {
  const { rss = 0, timers = 0 } = grown;
  const sizes = { rss: 1e8 + rss, heapTotal: 6e7, heapUsed: 4e7, external: 5e6, arrayBuffers: 1e6 };
  return {
    atMs,
    pid,
    kind: pid === 1 ? "main" : "worker",
    lateMs: 0,
    usage: { ...sizes, descriptors: 60, threads: 11, contexts: 1, handles: 30 },
    resources: {},
    census: { promises: 600, unsettled: 100, timers: 60 + timers, liveHeap: 4e7 },
    problems: [],
  };
}

type Growth = (hour: number) => { readonly rss?: number; readonly timers?: number };

/** What a soak of two hours wrote, in which nothing went wrong. */
function recordsOf(changed: Partial<SoakRecords> = {}, growth: Growth = () => ({})): SoakRecords {
  const times = Array.from({ length: 1_440 }, (_, at) => at * 5_000);
  const scrape = { series: 900, foreign: 0, contained: 0, workersLost: 1, refused: 1, applied: 2, waitedMs: 0 };
  const cpuMs = { rolecall: 1, soak: { user: 1, system: 1 } };
  return {
    begin: { atMs: 0, minutes: 120, seed: 1, node: "v20.20.2" },
    end: {
      atMs: 2 * hourMs,
      wasRunning: true,
      end: "exit code 0",
      counts,
      reloads: { valid: 2, invalid: 1 },
      killed: [9],
    },
    actions: [],
    scrapes: times.filter((_, at) => at % 3 === 0).map((atMs) => ({ ...scrape, atMs, counts, cpuMs })),
    problems: [],
    failed: [],
    lines: [],
    gaps: [],
    samples: new Map([1, 2].map((pid) => [pid, times.map((atMs) => sampleAt(atMs, pid, growth(atMs / hourMs)))])),
    ...changed,
  };
}

function failuresOf(records: SoakRecords): readonly string[] {
  return outcomeOf(records)
    .verdicts.filter(({ holds }) => !holds)
    .map(({ requirement }) => requirement);
}

describe("outcomeOf", () => {
  it("finds nothing in a soak in which nothing went wrong", () => {
    assert.deepEqual(failuresOf(recordsOf()), []);
  });

  it("finds memory that grows by 3 % an hour, and not by 1 %", () => {
    assert.deepEqual(failuresOf(recordsOf({}, (hour) => ({ rss: hour * 3e6 }))), [
      "main: resident memory flat",
      "worker: resident memory flat",
    ]);
    assert.deepEqual(failuresOf(recordsOf({}, (hour) => ({ rss: hour * 1e6 }))), []);
    assert.deepEqual(failuresOf(recordsOf({}, (hour) => ({ rss: Math.min(hour, 0.9) * 3e6 }))), []);
  });

  it("finds timers that leak twice an hour, and ignores growth of the first eighth", () => {
    assert.deepEqual(failuresOf(recordsOf({}, (hour) => ({ timers: Math.floor(hour * 2) * 2 }))), [
      "main: timers flat",
      "worker: timers flat",
    ]);
    assert.deepEqual(failuresOf(recordsOf({}, (hour) => ({ timers: hour < 0.2 ? Math.floor(hour * 200) : 45 }))), []);
  });

  it("finds series that grow, and not series that come and go", () => {
    const withSeries = (seriesAt: (at: number) => number): SoakRecords => {
      const records = recordsOf();
      return { ...records, scrapes: records.scrapes.map((scrape, at) => ({ ...scrape, series: seriesAt(at) })) };
    };
    assert.deepEqual(failuresOf(withSeries((at) => 900 + Math.floor(at / 10))), ["series of /metrics not growing"]);
    assert.deepEqual(failuresOf(withSeries((at) => 900 + ((at * 7) % 40))), []);
  });

  it("finds a series that outlives its cluster, and ignores the extra cluster while it is there", () => {
    const withForeign = (isForeign: (cycleMs: number) => boolean): SoakRecords => {
      const records = recordsOf();
      const scrapes = records.scrapes.map((scrape) => ({
        ...scrape,
        foreign: isForeign(scrape.atMs % 240_000) ? 3 : 0,
      }));
      return { ...records, scrapes };
    };
    assert.deepEqual(failuresOf(withForeign((cycleMs) => cycleMs > 220_000)), [
      "no series of a cluster or node that is gone, in the calm parts",
    ]);
    assert.deepEqual(failuresOf(withForeign((cycleMs) => cycleMs < 160_000)), []);
  });

  for (const [what, changed, requirement] of [
    ["a wrong answer", { end: { ...recordsOf().end, counts: { ...counts, wrong: 1 } } }, /no wrong answer/],
    ["an exit", { end: { ...recordsOf().end, end: "exit code 70" } }, /exit code 0/],
    ["a worker that ended by itself", { end: { ...recordsOf().end, killed: [] } }, /workers that ended/],
    ["a reload that was not applied", { end: { ...recordsOf().end, reloads: { valid: 3, invalid: 1 } } }, /applied/],
    ["a scrape that failed", { failed: [{ atMs: 5, what: "scrape", error: "late" }] }, /no failed/],
    ["a missing worker", { samples: new Map([[1, recordsOf().samples.get(1) ?? []]]) }, /a main process and a worker/],
    ["a line", { lines: [{ atMs: 5, level: "error", msg: "answer failed", fields: {} }] }, /level error/],
    ["an unfinished run", { end: null }, /ran to the end/],
  ] as const)
    it(`finds ${what}`, () => {
      const failures = failuresOf(recordsOf(changed as Partial<SoakRecords>));
      assert.ok(
        failures.some((failure) => requirement.test(failure)),
        failures.join("\n"),
      );
    });

  describe("on a busy machine", () => {
    const atMs = 100_000;
    const refusedBy = (fields: object): LoggedLine => ({
      atMs,
      level: "error",
      msg: "reload refused: the old configuration stays in force",
      fields: { ...fields },
    });
    const byPlan = refusedBy({ err: { message: "Cannot listen on 127.0.0.1:1: it must be a free port" } });
    const bySlowness = refusedBy({ err: { message: "the worker exited, or did not open its listeners in time" } });
    const ended = (pid: number): LoggedLine => ({
      atMs,
      level: "error",
      msg: "worker ended; starting another one",
      fields: { pid },
    });
    /** The failures if rolecall counted so many of the plan's two valid reloads and its invalid one. */
    const failuresIf = (counted: object, lines: readonly LoggedLine[]): readonly string[] => {
      const records = recordsOf();
      const scrapes = records.scrapes.map((scrape) => ({ ...scrape, ...counted }));
      return failuresOf({ ...records, scrapes, lines, gaps: [{ atMs: atMs - 5_000, lostMs: 800 }] });
    };

    it("counts an invalid reload once that rolecall refuses late", () => {
      assert.deepEqual(failuresIf({ refused: 1, applied: 2 }, [byPlan]), []);
      assert.deepEqual(failuresIf({ refused: 1, applied: 2 }, [bySlowness]), []);
    });

    it("accepts that a valid reload is refused because a worker was too slow, and for no other reason", () => {
      assert.deepEqual(failuresIf({ refused: 2, applied: 1 }, [byPlan, bySlowness]), []);
      assert.match(failuresIf({ refused: 2, applied: 1 }, [byPlan, byPlan]).join(), /^refused reloads/);
      assert.match(failuresIf({ refused: 3, applied: 0 }, [byPlan, byPlan, bySlowness]).join(), /^refused reloads/);
    });

    it("finds an invalid reload that was applied, and a reload that was lost", () => {
      assert.match(failuresIf({ refused: 0, applied: 3 }, [bySlowness]).join(), /^refused reloads/);
      assert.match(failuresIf({ refused: 1, applied: 1 }, [byPlan]).join(), /^applied and refused reloads/);
    });

    it("counts a killed worker once whose end is logged late, and one that was too slow besides", () => {
      assert.deepEqual(failuresIf({ workersLost: 1 }, [ended(9)]), []);
      assert.deepEqual(failuresIf({ workersLost: 2 }, [ended(9), ended(8)]), []);
      assert.match(failuresIf({ workersLost: 2 }, [ended(9)]).join(), /^workers that ended/);
    });
  });

  it("finds an uncaught exception", () => {
    const sample = { ...sampleAt(1, 3, {}), problems: ["uncaughtException: Error"] };
    const samples = new Map([...recordsOf().samples, [3, [sample]]]);
    assert.deepEqual(failuresOf(recordsOf({ samples })), [
      "no uncaught exception, unhandled rejection or warning of Node",
    ]);
  });
});

describe("explanationOf", () => {
  const line = (msg: string, fields: object, atMs = 100_000): LoggedLine => ({
    atMs,
    level: "error",
    msg,
    fields: { ...fields },
  });
  const action = (kind: DoneAction["action"]["kind"], result: string): DoneAction => ({
    begunMs: 90_000,
    atMs: 91_000,
    action: { kind, variant: "", lastsMs: 5_000 },
    result,
  });

  it("explains the events of a cluster by its own fault, before the fault and long after it by nothing", () => {
    const records = recordsOf({ actions: [action("fault", "c1 pg1 kill")] });
    const event = { event: "primary_lost", cluster: "c1" };
    assert.match(explanationOf(line("c1 has no primary", event), records) ?? "", /fault/);
    assert.equal(explanationOf(line("c1 has no primary", event, 89_000), records), null);
    assert.equal(explanationOf(line("c1 has no primary", event, 900_000), records), null);
    assert.equal(explanationOf(line("c2 has no primary", { ...event, cluster: "c2" }), records), null);
  });

  it("explains the end of the worker that was killed only, and a refused reload by an invalid configuration only", () => {
    const records = recordsOf({ actions: [action("workerKill", "77")] });
    assert.match(explanationOf(line("worker ended; starting another one", { pid: 77 }), records) ?? "", /killed/);
    assert.equal(explanationOf(line("worker ended; starting another one", { pid: 78 }), records), null);
    const refused = line("reload refused: the old configuration stays in force", {});
    assert.equal(explanationOf(refused, recordsOf({ actions: [action("reload", "sent")] })), null);
    assert.match(explanationOf(refused, recordsOf({ actions: [action("invalidReload", "")] })) ?? "", /invalid/);
  });

  it("explains by a missing processor what follows it, and never an error of another kind", () => {
    const records = recordsOf({ gaps: [{ atMs: 95_000, lostMs: 800 }] });
    const event = { event: "blind", cluster: "c1" };
    assert.match(explanationOf(line("no answer", event), records) ?? "", /processor/);
    assert.equal(explanationOf(line("no answer", event, 200_000), records), null);
    assert.equal(explanationOf(line("answer failed", {}), records), null);
  });
});
