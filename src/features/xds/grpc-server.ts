import { EventEmitter } from "node:events";
import { Duplex } from "node:stream";
import {
  type ConnectionInjector,
  logVerbosity,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  setLogVerbosity,
  status,
} from "@grpc/grpc-js";
import { objectOf } from "../../core/cluster/values/json.ts";
import { ReadingTurns } from "../../core/http/admission/reading-turns.ts";
import { decodeRequest, ResponseEncoder } from "./messages/codec.ts";
import type { XdsForm, XdsRequest, XdsResponse } from "./protocol/xds-messages.ts";
import { type AcceptedConnection, PacedConnection } from "./paced-connection.ts";
import { LargeRequests, RequestTurns } from "./request-turns.ts";
import type { XdsWire } from "./xds-stream.ts";

/** What handles one stream. */
export interface StreamHandler {
  /** Takes a request. */
  receive(request: XdsRequest): void;
  /** The client has read what was sent. */
  drained(): void;
  /** The stream has ended. */
  ended(): void;
}

/** What the server depends on. */
export interface GrpcContext {
  /** Identifies this process in responses. */
  readonly instance: () => string;
  /** Takes a new stream. @returns what handles it; a text: why it is refused */
  readonly open: (wire: GrpcWire) => StreamHandler | string;
  /** An internal error while a stream was handled. The stream ends. */
  readonly onError: (error: unknown) => void;
}

/** A stream, and how it is ended. */
export interface GrpcWire extends XdsWire {
  /** Ends the stream with the status UNAVAILABLE: the client comes back, here or elsewhere. */
  readonly end: (why: string) => void;
  /** As of any stream. @param onSent called once the connection has taken the response, or will not */
  send(response: XdsResponse, onSent?: () => void): boolean;
}

/** Requests are decoded when it is their turn. */
type Call = ServerDuplexStream<Buffer, XdsResponse>;

const discovery = "envoy.service.discovery.v3.AggregatedDiscoveryService";
const endpoints = "envoy.service.endpoint.v3.EndpointDiscoveryService";
const methods: Readonly<Record<string, XdsForm>> = {
  [`/${discovery}/StreamAggregatedResources`]: "sotw",
  [`/${discovery}/DeltaAggregatedResources`]: "delta",
  [`/${endpoints}/StreamEndpoints`]: "sotw",
  [`/${endpoints}/DeltaEndpoints`]: "delta",
};

/** A call that only tells that rolecall answers here: `rolecall doctor` sends it. */
const livezPath = "/rolecall.Livez/Get";
/** A request with the names of thousands of pools has some 100 kB. */
const requestMax = 1_048_576;
/**
 * Envoy opens a stream for each pool unless it aggregates them, and another connection for more. A connection that is cut
 * ends all of its streams in one turn of the event loop.
 */
const streamsPerConnection = 64;
/** Responses of one stream that were not read yet: nothing more is sent before. */
const unreadMax = 2;
/** How long a connection may have no stream, and how long a client may be silent when it is asked to answer, in ms. */
const idleMs = 30_000;
const keepalive = { everyMs: 2_000, timeoutMs: 2_000 } as const;

/**
 * The turns of all connections of this process. node:http2 opens streams when what has brought them is done with, so a
 * turn cannot see how long that takes: each has one piece.
 */
const ownTurns = new ReadingTurns(() => performance.now(), 0);

const empty = (): Buffer => Buffer.alloc(0);

// grpc-js logs each header with characters that are not ASCII to stderr, without a limit. Any client can send them.
setLogVerbosity(logVerbosity.NONE);

/** Speaks gRPC on connections that were accepted elsewhere. */
export class GrpcServer {
  readonly #server: Server;
  readonly #injector: ConnectionInjector;
  readonly #context: GrpcContext;
  readonly #large = new LargeRequests();

  constructor(context: GrpcContext) {
    this.#context = context;
    this.#server = new Server({
      interceptors: [(_, call) => this.#intercept(call)],
      "grpc.enable_channelz": 0,
      "grpc.max_receive_message_length": requestMax,
      "grpc.max_concurrent_streams": streamsPerConnection,
      "grpc.max_connection_idle_ms": idleMs,
      "grpc.keepalive_time_ms": keepalive.everyMs,
      "grpc.keepalive_timeout_ms": keepalive.timeoutMs,
      "grpc-node.max_session_memory": 4,
    });
    const encoders = {
      sotw: new ResponseEncoder({ form: "sotw", instance: context.instance }),
      delta: new ResponseEncoder({ form: "delta", instance: context.instance }),
    } as const;
    for (const [path, form] of Object.entries(methods))
      this.#server.register(
        path,
        (call: Call) => this.#handle(call, form),
        (response: XdsResponse) => encoders[form].encode(response),
        (bytes: Buffer) => bytes,
        "bidi",
      );
    this.#server.register(
      livezPath,
      (_call: unknown, answer: sendUnaryData<Buffer>) => answer(null, empty()),
      empty,
      empty,
      "unary",
    );
    // Access control and TLS are those of the listener.
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    for (const server of http2ServersOf(this.#server)) ignoreEndedStreams(server, context.onError);
  }

  /** Speaks on a connection from now on: with all others it takes turns. */
  accept(connection: AcceptedConnection): void {
    this.#injector.injectConnection(new PacedConnection(connection, ownTurns));
  }

  /** Ends all connections. */
  close(): void {
    this.#server.forceShutdown();
  }

  /** Lets requests wait for their turn, and refuses compressed ones. */
  #intercept(call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const turns = new RequestTurns(this.#large);
    // grpc-js has no option for it, and would inflate whatever clients send, on all threads at once. Envoy compresses no
    // request. A client that does gets the status UNIMPLEMENTED.
    Reflect.set(call, "incomingEncoding", "none");
    const peer = peerOf(call);
    const paced = new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMessage: (bytes: Buffer, pass) => turns.take(bytes.length, () => pass(bytes)),
          onCancel: () => turns.stop(),
        }),
    });
    // Between node:http2 and the socket stands what hides its address.
    paced.getPeer = () => peer;
    return paced;
  }

  #handle(call: Call, form: XdsForm): void {
    // Without a listener, an error of the connection would end the process.
    call.on("error", () => {});
    const wire = new CallWire(call, form);
    const handler = this.#context.open(wire);
    if (typeof handler === "string") {
      wire.end(handler);
      return;
    }
    wire.onDrained = () => this.#guard(wire, () => handler.drained());
    call.on("data", (bytes: Buffer) => {
      const request = decoded(bytes, form);
      if (request === null) wire.refuse("the request is no message of this type");
      else this.#guard(wire, () => handler.receive(request));
    });
    call.once("end", () => call.end());
    // Once the status is sent, the client may still leave its half open.
    call.once("finish", () => call.destroy());
    call.once("close", () => handler.ended());
  }

  /** An internal error costs its stream, and nothing else. */
  #guard(wire: GrpcWire, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#context.onError(error);
      wire.end("internal error");
    }
  }
}

/** The wire of one call. */
class CallWire implements GrpcWire {
  readonly form: XdsForm;
  readonly peer: string;
  readonly #call: Call;
  #unread = 0;
  onDrained: () => void = () => {};

  constructor(call: Call, form: XdsForm) {
    this.#call = call;
    this.form = form;
    this.peer = call.getPeer();
  }

  send(response: XdsResponse, onSent: () => void = () => {}): boolean {
    if (!this.#call.writable) {
      onSent();
      return false;
    }
    this.#unread += 1;
    this.#call.write(response, () => {
      this.#unread -= 1;
      onSent();
      if (this.#unread === unreadMax - 1) this.onDrained();
    });
    return this.#unread < unreadMax;
  }

  end(why: string): void {
    this.#call.emit("error", { code: status.UNAVAILABLE, details: why });
  }

  /** Ends the stream because of what the client has sent. */
  refuse(why: string): void {
    this.#call.emit("error", { code: status.INVALID_ARGUMENT, details: why });
  }
}

/** What grpc-js speaks HTTP/2 with. It has no name for it. */
function http2ServersOf(server: Server): readonly EventEmitter[] {
  const servers: unknown = Reflect.get(server, "http2Servers");
  const found = servers instanceof Map ? [...servers.keys()].filter((each) => each instanceof EventEmitter) : [];
  if (found.length === 0) throw new Error("Cannot guard the HTTP/2 server of grpc-js: it must be in http2Servers");
  return found;
}

/**
 * A client can open a stream and end it with what the same piece holds. grpc-js would answer it, which throws where
 * nobody catches it, and ends the process.
 */
function ignoreEndedStreams(server: EventEmitter, onError: (error: unknown) => void): void {
  const listeners = server.listeners("stream");
  server.removeAllListeners("stream");
  server.on("stream", (stream: Duplex, ...parts: readonly unknown[]) => {
    // An error of a stream that nobody listens to would end the process, too.
    stream.on("error", () => {});
    if (stream.destroyed) return;
    try {
      for (const listener of listeners) Reflect.apply(listener, server, [stream, ...parts]);
    } catch (error) {
      onError(error);
      stream.destroy();
    }
  });
}

/** The address and port of the client of a call. */
function peerOf(call: ServerInterceptingCallInterface): string {
  const stream: unknown = Reflect.get(call, "stream");
  const session = stream instanceof Duplex && "session" in stream ? objectOf(stream.session) : {};
  const connection = objectOf(session["socket"])["stream"];
  return connection instanceof PacedConnection ? connection.peer : call.getPeer();
}

function decoded(bytes: Buffer, form: XdsForm): XdsRequest | null {
  try {
    return decodeRequest(bytes, form);
  } catch {
    return null;
  }
}
