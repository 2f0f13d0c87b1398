/**
 * rolecall as systemd runs it: the sockets are those of `systemd-socket-activate`, a shell holds them as systemd does,
 * and starts rolecall again whenever it ends (`Restart=always`).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "./ask.ts";
import { Child } from "./child.ts";
import { childrenOf } from "./processes.ts";
import { reapAtExit, signal } from "./reaper.ts";
import { program } from "./rolecall.ts";
import { until } from "../../fake/until.ts";

/** Starts rolecall with LISTEN_PID of the very process, as sd_listen_fds(3) requires, and again when it ends. */
const manager = `while :; do /bin/sh -c 'LISTEN_PID=$$ exec "$0" "$@"' "$@"; done`;

export class SocketActivated {
  readonly port: number;
  readonly #manager: Child;

  /**
   * Starts the sockets. rolecall itself starts with the first connection.
   * @param folder where its configuration and log are written
   */
  constructor(folder: string, ports: { readonly health: number; readonly admin: number }, clusters: readonly object[]) {
    const file = join(folder, "rolecall.yaml");
    const listen = [{ port: ports.health }, { port: ports.admin, dialect: "admin" }];
    writeFileSync(file, JSON.stringify({ clusters, listen, drain: "1s" })); // JSON is YAML
    const sockets = [ports.health, ports.admin].map((port) => `--listen=127.0.0.1:${port}`);
    const serve = [process.execPath, program, "serve", "--config", file];
    const command = ["systemd-socket-activate", ...sockets, "/bin/sh", "-c", manager, "sh", ...serve] as const;
    this.port = ports.health;
    this.#manager = new Child({ name: "rolecall", command: [...command], folder });
    reapAtExit(() => this.#pids());
  }

  /** The process that answers; `undefined` while there is none. */
  get pid(): number | undefined {
    return this.#pids()[0];
  }

  get tail(): string {
    return this.#manager.tail;
  }

  async ready(): Promise<void> {
    await until({ what: "ready rolecall", seconds: 25, evidence: () => this.tail }, async () => {
      // The connection waits in the socket until rolecall has started.
      return (await ask({ port: this.port, path: "/readyz", deadlineMs: 20_000 })).status === 200;
    });
  }

  /** Ends rolecall with a signal, and waits until its successor is ready. @returns how long that took, in ms */
  async restart(name: "SIGTERM" | "SIGKILL"): Promise<number> {
    const former = this.pid;
    if (former === undefined) throw new Error("Cannot restart rolecall: it does not run");
    const beganMs = performance.now();
    signal(former, name);
    const evidence = (): string => this.tail;
    await until({ what: `end of rolecall after ${name}`, seconds: 15, evidence }, async () => this.pid !== former);
    await this.ready();
    return performance.now() - beganMs;
  }

  async stop(): Promise<void> {
    const pids = this.#pids();
    await this.#manager.stop("SIGKILL");
    for (const pid of pids) signal(pid, "SIGKILL");
  }

  #pids(): readonly number[] {
    const { pid } = this.#manager;
    return pid === undefined ? [] : childrenOf(pid).map((child) => child.pid);
  }
}
