import type { Profile } from "../profile.ts";
import { NodeServer } from "../wire/server.ts";
import { type ClusterOptions, ModelCluster, type Shape } from "./model-cluster.ts";

/** A modelled cluster that is open to rolecall over sockets. */
export class Cluster extends ModelCluster {
  readonly #servers: readonly NodeServer[];

  constructor(shape: Shape, profile: Profile, options: Omit<ClusterOptions, "epochMs" | "hasClone">) {
    super(shape, profile, { ...options, epochMs: Date.now() - options.now(), hasClone: true });
    this.#servers = [
      ...this.seats.map((seat) => new NodeServer(seat, seat.node.host, this.evidence, options.now)),
      ...(this.clone?.seats ?? []).map((seat) => new NodeServer(seat, seat.node.host, this.aside, options.now)),
    ];
  }

  async open(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.open()));
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  /** Moves the truth to an instant, and opens and closes addresses accordingly. */
  async tick(nowMs: number): Promise<void> {
    this.advance(nowMs);
    await Promise.all(this.#servers.map((server) => server.follow()));
  }
}
