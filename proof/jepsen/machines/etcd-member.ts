/** One of the three members of etcd, on a machine of its own. */
import { join } from "node:path";
import { Child } from "../../../test/real/lab/child.ts";
import { addressOf, etcdNames, namespaceOf } from "./addresses.ts";

type EtcdName = (typeof etcdNames)[number];

/** Client addresses of all members, as `HOST:PORT`. */
export const etcdClients: readonly string[] = etcdNames.map((name) => `${addressOf(name)}:2379`);

/** For a machine that is busy: the defaults are 100 ms and 1 s. */
const pace = ["--heartbeat-interval", "200", "--election-timeout", "2000"];

export class EtcdMember {
  readonly name: EtcdName;
  readonly #folder: string;
  readonly #disk: string;
  #child: Child | undefined;

  /**
   * @param folder holds its log
   * @param disk holds its data
   */
  constructor(name: EtcdName, folder: string, disk: string) {
    this.name = name;
    this.#folder = folder;
    this.#disk = disk;
  }

  /** Starts it, on its old data if there are any. */
  start(): void {
    const client = `http://${addressOf(this.name)}:2379`;
    const peer = (name: EtcdName): string => `http://${addressOf(name)}:2380`;
    const own = ["--name", this.name, "--data-dir", join(this.#disk, this.name), ...pace];
    const clients = ["--listen-client-urls", client, "--advertise-client-urls", client];
    const peers = ["--listen-peer-urls", peer(this.name), "--initial-advertise-peer-urls", peer(this.name)];
    const all = ["--initial-cluster", etcdNames.map((name) => `${name}=${peer(name)}`).join(",")];
    this.#child = new Child({
      name: this.name,
      command: ["etcd", ...own, ...clients, ...peers, ...all],
      folder: this.#folder,
      namespace: namespaceOf(this.name),
      asPostgres: true,
    });
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`Cannot name the process of ${this.name}: it was not started`);
    return this.#child.pid;
  }

  get tail(): string {
    return this.#child?.tail ?? "";
  }

  async kill(): Promise<void> {
    await this.#child?.stop("SIGKILL");
  }
}
