/** An HTTP proxy in front of a node's API that alters the answer to `POST /switchover`, and nothing else. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Inflicted } from "./fault-list.ts";

export type AlteredAnswer = Extract<Inflicted, { readonly kind: "api" }>["answer"];

export class ApiProxy {
  readonly #target: number;
  readonly #server: Server;
  #answer: AlteredAnswer | null = null;

  /** @param target the port of the API on 127.0.0.1 */
  static async start(target: number): Promise<ApiProxy> {
    const proxy = new ApiProxy(target);
    await new Promise<void>((resolve) => void proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((asked, answer) => this.#serve(asked, answer));
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /** `null`: that of the node. */
  set(answer: AlteredAnswer | null): void {
    this.#answer = answer;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #serve(asked: IncomingMessage, reply: ServerResponse): void {
    const altered = asked.method === "POST" && asked.url === "/switchover" ? this.#answer : null;
    if (altered === "hang") return;
    if (typeof altered === "number") {
      reply.writeHead(altered).end("the answer of the proxy");
      return;
    }
    const { method, headers, url: path } = asked;
    const forwarded = request(
      { host: "127.0.0.1", port: this.#target, method, headers, path, agent: false },
      (answer) => {
        if (altered === "lose") return void answer.resume();
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
      },
    );
    forwarded.on("error", () => reply.destroy());
    reply.on("close", () => {
      if (altered === null) forwarded.destroy();
    });
    asked.pipe(forwarded);
  }
}
