/**
 * Servers that stand for databases behind a load balancer: each sends its name and then echoes every byte. A load
 * balancer sees of a database no more than that.
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { portOf } from "../../fake/listen.ts";

export class EchoDatabase {
  readonly name: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #accepted = 0;

  /** Starts one on 127.0.0.1. @param port Default: any free one */
  static async start(name: string, port = 0): Promise<EchoDatabase> {
    const database = new EchoDatabase(name);
    await new Promise<void>((resolve) => void database.#server.listen(port, "127.0.0.1", resolve));
    return database;
  }

  private constructor(name: string) {
    this.name = name;
    this.#server = createServer((socket) => {
      this.#accepted++;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {}); // "close" follows
      socket.write(`${name}\n`);
      socket.pipe(socket);
    });
  }

  /**
   * The sessions that it has ever accepted. One that the load balancer cuts at once is among them, although its client
   * may end before it reads a name.
   */
  get accepted(): number {
    return this.#accepted;
  }

  get port(): number {
    return portOf(this.#server);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A session through a load balancer. It is in use all the time: a byte is sent every 50 ms, and echoed. */
export class EchoSession {
  /** The database that it reached. */
  readonly database: string;
  readonly #socket: Socket;
  #isCut = false;

  /** Opens a session. @returns `undefined` if it reaches no database within 2 s */
  static async open(port: number): Promise<EchoSession | undefined> {
    const socket = connect(port, "127.0.0.1");
    const database = await new Promise<string | undefined>((resolve) => {
      socket.setTimeout(2000, () => socket.destroy());
      socket.once("data", (bytes) => resolve(bytes.toString().trim()));
      socket.on("close", () => resolve(undefined));
      socket.on("error", () => {}); // "close" follows
    });
    return database === undefined ? undefined : new EchoSession(socket, database);
  }

  private constructor(socket: Socket, database: string) {
    this.#socket = socket;
    this.database = database;
    socket.resume();
    const pulse = setInterval(() => socket.write("."), 50);
    socket.on("close", () => {
      this.#isCut = true;
      clearInterval(pulse);
    });
  }

  /** Whether its connection has ended. */
  get isCut(): boolean {
    return this.#isCut;
  }

  close(): void {
    this.#socket.destroy();
  }
}

/**
 * Opens one new session after the other until the signal.
 * @param landed takes the databases as they are reached
 * @returns the database that each reached, in order
 */
export async function landings(
  port: number,
  signal: AbortSignal,
  landed: (string | undefined)[] = [],
): Promise<readonly (string | undefined)[]> {
  for (; !signal.aborted; await sleep(50)) {
    const session = await EchoSession.open(port);
    landed.push(session?.database);
    session?.close();
  }
  return landed;
}

/**
 * The databases that so many new sessions reach, all open at the same time; `nowhere` for those that reach none. One
 * after the other would not do: `leastconn` sends each to the same server while another one has older sessions.
 */
export async function reached(port: number, times: number): Promise<readonly string[]> {
  const sessions = await Promise.all(Array.from({ length: times }, () => EchoSession.open(port)));
  for (const session of sessions) session?.close();
  return [...new Set(sessions.map((session) => session?.database ?? "nowhere"))].toSorted();
}
