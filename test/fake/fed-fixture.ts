import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import { ChangeDecoder, ChangeEncoder } from "../../src/features/follow/feed/change-codec.ts";
import { MergedOutcomes } from "../../src/features/follow/follower/merged-outcomes.ts";
import { ClusterFixture, type FixtureOptions } from "./cluster-fixture.ts";

/** A cluster whose outcomes come over a feed without delay, from an owner whose clock is another one. */
export class FedFixture extends ClusterFixture {
  readonly #encoder = new ChangeEncoder();
  readonly #decoder = new ChangeDecoder();
  readonly #merged = new MergedOutcomes();
  readonly #offsetMs: number;

  /** @param offsetMs the clock of the owner minus that of the follower, in ms */
  constructor(options: FixtureOptions, offsetMs = 0) {
    super(options);
    this.#offsetMs = offsetMs;
  }

  override record(outcome: ProbeOutcome, nowMs: number): ClusterState {
    const written = JSON.stringify(this.#encoder.encode(shifted(outcome, this.#offsetMs), nowMs + this.#offsetMs));
    const change: unknown = JSON.parse(written);
    const read = this.#decoder.decode(change, { sentAtMs: nowMs, wallOffsetMs: 0 });
    if (read === null || read === "ignored") throw new Error(`Cannot read ${written}`);
    const taken = read.kind === "drain" ? [read] : this.#merged.take(read);
    for (const each of taken) super.record(each, nowMs);
    return this.cluster;
  }
}

function shifted(outcome: ProbeOutcome, ms: number): ProbeOutcome {
  if (outcome.kind === "drain")
    return {
      ...outcome,
      drain: outcome.drain === null ? null : { ...outcome.drain, untilMs: outcome.drain.untilMs + ms },
    };
  if (outcome.kind !== "document") return { ...outcome, sentAtMs: outcome.sentAtMs + ms };
  const { served } = outcome.answer;
  return { ...outcome, answer: { ...outcome.answer, served: { ...served, sentAtMs: served.sentAtMs + ms } } };
}
