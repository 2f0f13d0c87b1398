/** What the name of a stream of an Envoy is made from. */
export interface NamedStream {
  readonly name: string;
  /** Its address and port. */
  readonly wire: { readonly peer: string };
}

/**
 * The names of Envoys for people. Those that run one file may all state one node id: then with their addresses. The
 * streams are looked at once, whatever their number.
 */
export class EnvoyNames {
  /** Node id -> the host of its streams; `null`: they have several. */
  readonly #hosts = new Map<string, string | null>();

  constructor(streams: Iterable<NamedStream>) {
    for (const stream of streams) {
      const { name } = stream;
      const host = hostOf(stream);
      this.#hosts.set(name, this.#hosts.has(name) && this.#hosts.get(name) !== host ? null : host);
    }
  }

  /** @param stream one of them, or a later one */
  of(stream: NamedStream): string {
    const { name } = stream;
    const host = hostOf(stream);
    return this.#hosts.has(name) && this.#hosts.get(name) !== host ? `${name} (${host})` : name;
  }
}

/** The host of `10.0.0.7:50000` or `[::1]:50000`. */
function hostOf({ wire }: NamedStream): string {
  return wire.peer.slice(0, wire.peer.lastIndexOf(":"));
}
