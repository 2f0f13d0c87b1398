import { request, type IncomingMessage } from "node:http";
import type { TestContext } from "node:test";
import { until } from "./until.ts";

/** One message of a stream of server-sent events. */
export interface StreamMessage {
  readonly name: string;
  readonly id: string | null;
  readonly data: Record<string, unknown>;
}

/** A client of a stream that keeps what it received. */
export interface EventStreamClient {
  readonly status: number;
  readonly messages: StreamMessage[];
  readonly isClosed: () => boolean;
  readonly close: () => void;
  /** Waits for a message that fits. */
  readonly next: (name: string, fits?: (message: StreamMessage) => boolean) => Promise<StreamMessage>;
}

/** Opens a stream, which closes when the test ends. */
export async function openEventStream(
  context: TestContext,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStreamClient> {
  const clientRequest = request(url, { agent: false, headers });
  context.after(() => clientRequest.destroy());
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    clientRequest.on("response", resolve).on("error", reject).end();
  });
  const messages: StreamMessage[] = [];
  let text = "";
  let isClosed = false;
  response.on("data", (piece: Buffer) => {
    text += piece.toString();
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) if (block.startsWith("event: ")) messages.push(messageOf(block));
  });
  response.on("close", () => (isClosed = true)).on("error", () => {});
  return {
    status: response.statusCode ?? 0,
    messages,
    isClosed: () => isClosed,
    close: () => void clientRequest.destroy(),
    next: (name, fits = () => true) =>
      until({ what: `message ${name}`, evidence: () => JSON.stringify(messages.slice(-5)) }, () =>
        messages.find((message) => message.name === name && fits(message)),
      ),
  };
}

function messageOf(block: string): StreamMessage {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  return {
    name: field("event") ?? "",
    id: field("id") ?? null,
    data: JSON.parse(field("data") ?? "null") as Record<string, unknown>,
  };
}
