import { connect, createServer, type Server, type Socket } from "node:net";
import { FakeEtcd } from "../../test/fake/fake-etcd.ts";
import { portOf } from "../../test/fake/listen.ts";
import type { Action } from "./plan.ts";

/** An etcd whose process can go away: a forwarder with a fixed port in front of the fake. */
export class WatchedDcs {
  url = "";
  readonly #etcd: FakeEtcd;
  readonly #sockets = new Set<Socket>();
  readonly #holders = new Map<string, string | null>();
  #server: Server | null = null;
  #port = 0;

  private constructor(etcd: FakeEtcd) {
    this.#etcd = etcd;
  }

  static async start(): Promise<WatchedDcs> {
    const dcs = new WatchedDcs(await FakeEtcd.start());
    await dcs.#open();
    dcs.url = `http://127.0.0.1:${dcs.#port}`;
    return dcs;
  }

  /** Writes who holds the lock of a cluster, if that changed. */
  write(scope: string, holder: string | null): void {
    if (this.#holders.get(scope) === holder) return;
    this.#holders.set(scope, holder);
    const key = `/service/${scope}/leader`;
    if (holder === null) this.#etcd.delete(key);
    else this.#etcd.put(key, holder);
    this.#etcd.calls.length = 0;
  }

  async fault({ variant, lastsMs }: Action): Promise<string> {
    const { faults } = this.#etcd;
    switch (variant) {
      case "restart":
        this.#server?.close();
        this.#server = null;
        for (const socket of this.#sockets) socket.destroy();
        setTimeout(() => void this.#open(), lastsMs);
        break;
      case "hang":
        faults.isHung = true;
        setTimeout(() => (faults.isHung = false), lastsMs);
        break;
      case "loseEvents":
        faults.losesEvents = true;
        setTimeout(() => (faults.losesEvents = false), lastsMs);
        break;
      case "compact":
        faults.isCompacted = true;
        this.#etcd.cut();
        break;
      default:
        this.#etcd.cut();
    }
    return variant;
  }

  async stop(): Promise<void> {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#etcd.close();
  }

  async #open(): Promise<void> {
    if (this.#server !== null) return;
    const target = Number(new URL(this.#etcd.url).port);
    const server = createServer((socket) => {
      const upstream = connect(target, "127.0.0.1");
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        this.#sockets.add(one);
        one
          .on("error", () => {})
          .on("close", () => {
            this.#sockets.delete(one);
            other.destroy();
          });
        one.pipe(other);
      }
    });
    this.#server = server;
    await new Promise<void>((resolve) => void server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = portOf(server);
  }
}
