import type { SetTimer } from "../../../core/cluster/timer.ts";
import type { JsonObject } from "../../../core/cluster/values/json.ts";
import type { FoundNodes, NodeFinder } from "../../../core/probe/client/node-finder.ts";
import type { ApiClient, ApiProblem } from "../api/api-client.ts";
import { ResourceWatch } from "../api/resource-watch.ts";
import { apisOfPods, slimFoundPod } from "./found-pods.ts";
import { parsePodSeed, podProtocol, podSeedAllowed, type PodSeed } from "../config/pod-seed.ts";

/** What a finder depends on. */
export interface PodFinderContext {
  /** Calls the API server as it is configured now. */
  readonly client: () => Pick<ApiClient, "call" | "open" | "pauseMs">;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  readonly random: () => number;
  readonly setTimer: SetTimer;
}

/** The pods of one address: what was found last, and why it is not known, or not as of now. */
interface Followed {
  readonly seed: PodSeed;
  readonly watch: ResourceWatch;
  origins: readonly string[] | null;
  problem: ApiProblem | null;
  /** Those who wait until something is known. */
  waiting: (() => void)[];
}

/** Finds pods by their labels: one watch for each address, from the first question on. */
export class PodFinder implements NodeFinder {
  readonly protocol: string = podProtocol;
  readonly #context: PodFinderContext;
  readonly #followed = new Map<string, Followed>();

  constructor(context: PodFinderContext) {
    this.#context = context;
  }

  /** Why the pods of an address are not known, or not as of now; `null`: they are. */
  problemOf(address: string): ApiProblem | null {
    return this.#followed.get(address)?.problem ?? null;
  }

  /** Follows the pods of these addresses and of no others. @param isOther whether another API server is called */
  configure(addresses: ReadonlySet<string>, isOther: boolean): void {
    for (const [address, followed] of this.#followed)
      if (isOther || !addresses.has(address)) this.#end(address, followed);
    for (const address of addresses) if (address.startsWith(podProtocol)) this.#follow(address);
  }

  async find(address: string): Promise<FoundNodes> {
    const followed = this.#follow(address);
    if (followed === null) return { kind: "none", why: `${address} must be ${podSeedAllowed}` };
    if (followed.origins === null && followed.problem === null)
      await new Promise<void>((resolve) => void followed.waiting.push(resolve));
    const { seed, origins, problem } = followed;
    const [first, ...others] = origins ?? [];
    if (first !== undefined) return { kind: "found", origins: [first, ...others] };
    const why =
      problem === null
        ? `no pod of ${seed.namespace} has the labels ${seed.selector} and an address`
        : `the pods of ${seed.namespace} are not known: ${problem.text}`;
    return { kind: "none", why };
  }

  /** Ends all watches. */
  stop(): void {
    for (const [address, followed] of this.#followed) this.#end(address, followed);
  }

  #end(address: string, { watch, waiting }: Followed): void {
    watch.stop();
    this.#followed.delete(address);
    for (const resolve of waiting) resolve();
  }

  #follow(address: string): Followed | null {
    const known = this.#followed.get(address);
    if (known !== undefined) return known;
    const seed = parsePodSeed(address);
    if (seed === null) return null;
    const { client, now, random, setTimer } = this.#context;
    const tell = (change: Partial<Pick<Followed, "origins" | "problem">>): void => {
      Object.assign(followed, change);
      const { waiting } = followed;
      followed.waiting = [];
      for (const resolve of waiting) resolve();
    };
    const watch = new ResourceWatch(
      { path: `/api/v1/namespaces/${seed.namespace}/pods`, labels: seed.selector, slim: slimFoundPod },
      {
        client: client(),
        now,
        random,
        setTimer,
        onObjects: (objects: ReadonlyMap<string, JsonObject>) => tell({ origins: apisOfPods(objects, seed) }),
        onProblem: (problem) => tell({ problem }),
      },
    );
    const followed: Followed = { seed, watch, origins: null, problem: null, waiting: [] };
    this.#followed.set(address, followed);
    watch.start();
    return followed;
  }
}
