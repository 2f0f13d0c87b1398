import type { SendHandle } from "node:child_process";
import type { Outcome } from "./cluster/outcome.ts";
import type { ListenerConfig } from "./config/config.ts";
import { Doors, keysOf, type Door, type Prepared } from "./front/doors.ts";
import type { Handler, ListenerEvents } from "./front/listener.ts";
import { socketOfDescriptor } from "./front/place.ts";
import type { Logger } from "./log.ts";
import { Crew, type CrewContext } from "./workers/crew.ts";
import type { Phase } from "./workers/messages.ts";

/** What the entrances are wired to. */
export interface EntrancesContext {
  readonly log: Logger;
  readonly handlerFor: (listener: ListenerConfig) => Handler;
  readonly eventsOf: (listener: ListenerConfig) => ListenerEvents;
  readonly standing: CrewContext["standing"];
  readonly onContained: CrewContext["onContained"];
}

/** What the workers did, and used. */
export interface CrewUsage extends ReturnType<Crew["usage"]> {}

/** All listeners: those in this process, and those that workers have where there are any. Operators' listeners are always here. */
export class Entrances {
  readonly #own: Doors;
  readonly #crew: Crew | null;
  #keys: readonly string[] = [];

  /**
   * @param workers how many processes answer beside this one; 0: this one answers everything
   * @param inherited sockets that listen already, by the listener that each is for
   */
  constructor(
    workers: number,
    { log, handlerFor, eventsOf, standing, onContained }: EntrancesContext,
    inherited: ReadonlyMap<string, SendHandle>,
  ) {
    const sockets = new Map(inherited);
    this.#own = new Doors({
      handlerFor,
      eventsOf,
      placeOf: (key) => {
        const handle = sockets.get(key);
        return sockets.delete(key) ? { handle } : undefined;
      },
    });
    const wires = { log, standing, eventsOf, onContained, answererFor: handlerFor, sockets: inherited };
    this.#crew = workers === 0 ? null : new Crew(workers, wires);
  }

  /** The doors that are open, with the ports they have, in the order of the configuration. */
  get doors(): readonly Door[] {
    const doors = [...this.#own.doors, ...(this.#crew?.doors ?? [])];
    return doors.toSorted((one, other) => this.#keys.indexOf(one.key) - this.#keys.indexOf(other.key));
  }

  /** Opens operators' listeners, and starts the workers, which answer nothing yet. @throws DoorError where one cannot be opened */
  async openAdmin(listeners: readonly ListenerConfig[]): Promise<void> {
    const prepared = await this.#own.prepare(listeners.filter(({ dialect }) => dialect === "admin"));
    await prepared.commit();
    await this.#crew?.start();
  }

  /**
   * Makes the open doors those of the configuration. All that can fail comes first; then `commit` is called, and every door has its handler.
   * @throws DoorError where one cannot be opened; then all is as it was, and `commit` was not called
   */
  async open(listeners: readonly ListenerConfig[], commit: () => void = () => {}): Promise<void> {
    const crew = this.#crew;
    const isOurs = ({ dialect }: ListenerConfig): boolean => crew === null || dialect === "admin";
    const own = await this.#own.prepare(listeners.filter(isOurs));
    let others: Prepared | undefined;
    try {
      others = await crew?.prepare(listeners.filter((listener) => !isOurs(listener)));
    } catch (error) {
      await own.abandon();
      throw error;
    }
    crew?.settle();
    this.#keys = keysOf(listeners);
    commit();
    await Promise.all([own.commit(), others?.commit()]);
  }

  /** To be told of what changed the snapshot, and which one came of it. */
  record(outcome: Outcome, nowMs: number, sequence: number): void {
    this.#crew?.record(outcome, nowMs, sequence);
  }

  tellPhase(phase: Phase): void {
    this.#crew?.tellPhase(phase);
  }

  /** Has the workers say what they have done since. */
  async refresh(): Promise<void> {
    await this.#crew?.refreshReports();
  }

  /** What the workers answered. */
  answers(): ReturnType<Crew["answers"]> {
    return this.#crew?.answers() ?? [];
  }

  /** What the workers used; `null` where there are none. */
  usage(): CrewUsage | null {
    return this.#crew?.usage() ?? null;
  }

  /** Closes everything; answers under way are finished. */
  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#crew?.stop()]);
  }
}

/** The inherited sockets by the key of their listener: the first is the first listener's, and so on. */
export function inheritedSockets(listeners: readonly ListenerConfig[], descriptors: readonly number[]): ReadonlyMap<string, SendHandle> {
  const keys = keysOf(listeners);
  return new Map(descriptors.flatMap((fd, at) => (keys[at] === undefined ? [] : [[keys[at], socketOfDescriptor(fd)] as const])));
}
