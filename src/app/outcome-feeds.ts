import type { FedFollower, Feeds, FeedsContext } from "../fleet/owner/feeds.ts";

/** Feeds other instances with the outcomes of the clusters that are probed here. Loaded once somebody follows. */
export class OutcomeFeeds {
  readonly #context: FeedsContext;
  #feeds: Feeds | null = null;
  #isStopping = false;

  constructor(context: FeedsContext) {
    this.#context = context;
  }

  /** Opens a stream, as {@link Feeds.open}. */
  async open(...call: Parameters<Feeds["open"]>): Promise<ReturnType<Feeds["open"]>> {
    const { Feeds: Service } = await import("../fleet/owner/feeds.ts");
    if (this.#isStopping) return { kind: "refused", problem: "rolecall must not be stopping" };
    this.#feeds ??= new Service(this.#context);
    return this.#feeds.open(...call);
  }

  /** Sends a token back, as {@link Feeds.echo}. */
  echo(body: unknown): boolean {
    return this.#feeds?.echo(body) ?? false;
  }

  /** Changes the clusters of a stream, as {@link Feeds.select}. */
  select(body: unknown): boolean {
    return this.#feeds?.select(body) ?? false;
  }

  /** Which clusters are probed here has changed, as {@link Feeds.reselect}. */
  reselect(): void {
    this.#feeds?.reselect();
  }

  /** Drains a node as an operator of a follower asks, as {@link Feeds.drain}. */
  async drain(body: unknown): ReturnType<Feeds["drain"]> {
    return this.#feeds?.drain(body) ?? { problem: "the stream must be open" };
  }

  /** The present followers. */
  get followers(): readonly FedFollower[] {
    return this.#feeds?.followers ?? [];
  }

  /** Ends all streams, as {@link Feeds.endAll}. */
  endAll(reason: "reload" | "stopping"): void {
    this.#isStopping ||= reason === "stopping";
    this.#feeds?.endAll(reason);
  }
}
