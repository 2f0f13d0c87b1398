import { BodyBudget } from "../http/message/body-budget.ts";
import type { FedFollower, Feeds, FeedsContext } from "../fleet/owner/feeds.ts";

/** Bodies that are being received, in bytes: of one caller, and of all. One that names 10,000 clusters has some 4 MB. */
const bodyBytes = { one: 16 * 1024 * 1024, all: 32 * 1024 * 1024 } as const;

/** Feeds other instances with the outcomes of the clusters that are probed here. Loaded once somebody follows. */
export class OutcomeFeeds {
  readonly #context: FeedsContext;
  #feeds: Feeds | null = null;
  #isStopping = false;
  readonly #bodies = new BodyBudget(bodyBytes);

  constructor(context: FeedsContext) {
    this.#context = context;
  }

  /** As {@link BodyBudget.reserve}, for the bodies of requests for feeds. */
  reserve(bytes: number, who: string): (() => void) | null {
    return this.#bodies.reserve(bytes, who);
  }

  /** Opens a stream, as {@link Feeds.open}. */
  async open(...call: Parameters<Feeds["open"]>): Promise<ReturnType<Feeds["open"]>> {
    const { Feeds: Service } = await import("../fleet/owner/feeds.ts");
    if (this.#isStopping) return { kind: "refused", problem: "rolecall must not be stopping" };
    this.#feeds ??= new Service(this.#context);
    return this.#feeds.open(...call);
  }

  /** Sends a token back, as {@link Feeds.echo}. */
  echo(...call: Parameters<Feeds["echo"]>): boolean {
    return this.#feeds?.echo(...call) ?? false;
  }

  /** Changes the clusters of a stream, as {@link Feeds.select}. */
  select(...call: Parameters<Feeds["select"]>): boolean {
    return this.#feeds?.select(...call) ?? false;
  }

  /** Which clusters are probed here has changed, as {@link Feeds.reselect}. */
  reselect(): void {
    this.#feeds?.reselect();
  }

  /** Drains a node as an operator of a follower asks, as {@link Feeds.drain}. */
  async drain(...call: Parameters<Feeds["drain"]>): ReturnType<Feeds["drain"]> {
    return this.#feeds?.drain(...call) ?? { problem: "the stream must be open" };
  }

  /** The present followers. */
  get followers(): readonly FedFollower[] {
    return this.#feeds?.followers ?? [];
  }

  /** As {@link Feeds.unknownClusters}. */
  get unknownClusters(): number {
    return this.#feeds?.unknownClusters ?? 0;
  }

  /** Ends all streams, as {@link Feeds.endAll}. */
  endAll(reason: "reload" | "stopping"): void {
    this.#isStopping ||= reason === "stopping";
    this.#feeds?.endAll(reason);
  }
}
