import { connect } from "node:net";
import type { TestContext } from "node:test";
import type { ListenerScope } from "../../src/core/http/node-api/target-node.ts";
import type { JudgeInputs } from "../../src/core/http/node-api/answer.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { Listener } from "../../src/core/http/listener/listener.ts";
import type { ListenerEvents } from "../../src/core/http/listener/listener-events.ts";
import { answerDiagnostics } from "../../src/core/http/diagnostics/diagnostics-api.ts";
import { NodeApi } from "../../src/core/http/node-api/node-api.ts";
import { PageGate } from "../../src/core/http/pages/page-gate.ts";
import type { Passthrough } from "../../src/core/http/message/passthrough.ts";
import type { Request } from "../../src/core/http/message/request.ts";
import type { RoutingContext } from "../../src/core/http/node-api/routing-context.ts";
import type { ClusterFixture } from "./cluster-fixture.ts";

export function listenerScopeOf(parts: Partial<ListenerScope> = {}): ListenerScope {
  return { cluster: null, node: null, wholeCluster: false, clusters: ["demo"], hostSuffixes: [], ...parts };
}

export function routingContextOf(
  parts: Partial<ListenerScope> = {},
  rules: Partial<RoutingContext["rules"]> = {},
): RoutingContext {
  return {
    scope: listenerScopeOf(parts),
    rules: { ignoreParams: ["be"], ignoresUnknown: false, defaults: "", lagTimeMsMin: 2_000, ...rules },
    passes: false,
    operatorPages: true,
  };
}

export function requestOf(target: string, parts: Partial<Request> = {}): Request {
  return { method: "GET", target, host: undefined, nodeHeader: undefined, serverState: undefined, ...parts };
}

/** A node-dialect listener on a free port that answers for a watched cluster at one instant. */
export class NodeApiListener {
  readonly port: number;
  readonly answers: string[];
  readonly errors: unknown[];

  constructor(port: number, answers: string[], errors: unknown[]) {
    this.port = port;
    this.answers = answers;
    this.errors = errors;
  }

  /** Sends bytes as they are. Resolves to all received bytes when the connection is closed. */
  sendBytes(bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, "127.0.0.1");
      let received = "";
      socket.setEncoding("latin1");
      socket.on("data", (text: string) => (received += text));
      socket.on("error", reject);
      socket.on("close", () => resolve(received));
      socket.write(bytes, "latin1");
    });
  }

  /** Sends one request on a connection of its own, and parses the answer. */
  async request(
    target: string,
    options: { readonly method?: string; readonly headers?: readonly string[] } = {},
  ): Promise<RawAnswerParts> {
    const lines = [
      `${options.method ?? "GET"} ${target} HTTP/1.1`,
      "Host: any",
      "Connection: close",
      ...(options.headers ?? []),
    ];
    return parseAnswer(await this.sendBytes(`${lines.join("\r\n")}\r\n\r\n`));
  }
}

export interface RawAnswerParts {
  readonly line: string;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export function parseAnswer(text: string): RawAnswerParts {
  const cut = text.indexOf("\r\n\r\n");
  const [line = "", ...lines] = text.slice(0, cut).split("\r\n");
  const headers = new Map(
    lines.map((header): [string, string] => [
      header.slice(0, header.indexOf(":")),
      header.slice(header.indexOf(":") + 2),
    ]),
  );
  return { line, status: Number(line.split(" ")[1]), headers, body: text.slice(cut + 4) };
}

export async function openNodeApiListener(
  context: TestContext,
  watched: ClusterFixture,
  options: { readonly routing?: RoutingContext; readonly nowMs?: number; readonly unready?: string | null } = {},
): Promise<NodeApiListener> {
  const [answers, errors]: [string[], unknown[]] = [[], []];
  const inputs = (): JudgeInputs => ({
    snapshot: {
      instance: "run",
      sequence: 7,
      clusters: [{ ...watched.cluster, sequence: 7 }],
      index: new Map([["demo", 0]]),
    },
    policy: (cluster) => (cluster === "demo" ? watched.policy : undefined),
    nowMs: options.nowMs ?? 0,
    unready: () => options.unready ?? null,
  });
  const { policy, nowMs } = inputs();
  const diagnostics = {
    gate: new PageGate(),
    snapshot: () => inputs().snapshot,
    policy,
    now: () => nowMs,
    wall: () => nowMs,
    changes: () => [],
    evidence: async () => ({ recorded: [], accused: new Map(), sinceWallMs: null, isComplete: true }),
    limits: async () => [],
    asked: async () => () => ({ nodes: new Map(), nonMembers: [] }),
    askedChecks: () => [],
    brought: () => ({ found: [], seen: [] }),
    ofFeatures: () => ({}),
    config: () => ({ file: null, loaded_at: "1970-01-01T00:00:00.000Z", refused: null }),
    eventKinds: [],
    events: () => [],
    storedEvents: async () => ({ events: [], isComplete: true }),
  };
  const routing = options.routing ?? routingContextOf();
  const dialect = new NodeApi(routing, {
    inputs,
    snapshot: diagnostics.snapshot,
    now: diagnostics.now,
    diagnostics: (call) => answerDiagnostics(call, routing.scope, diagnostics),
    passthrough: rejectingPassthrough,
    onAnswer: (route, status) => answers.push(`${route} ${status}`),
  });
  const listener = new Listener((call) => dialect.handle(call), unrestrictedAccess, collectErrors(errors));
  const port = await listener.open({ address: "127.0.0.1", port: 0 });
  context.after(() => listener.close(0));
  return new NodeApiListener(port, answers, errors);
}

/** The events of a listener of which a test only needs the errors. */
export function collectErrors(errors: unknown[]): ListenerEvents {
  return { onError: (error) => errors.push(error), onRejected: () => {}, onFiles: () => {} };
}

/** A passthrough that no request may reach: a request here is an error of the test. */
export const rejectingPassthrough: Passthrough = {
  manage: () => Promise.reject(new Error("a management call that must not be forwarded")),
  fetch: () => Promise.reject(new Error("a request to a node that must not be forwarded")),
};
