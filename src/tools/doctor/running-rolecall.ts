import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";
import { featureDialects } from "../../app/registry/config.ts";
import type { ListenerConfig } from "../../core/config/model/config.ts";
import { formatHostPort } from "../../core/config/values/address.ts";

/** How long a listener has to answer, in ms. */
const answerMaxMs = 2_000;
/** No agent check has so many words, so only rolecall's agent listeners answer in this way. */
const agentQuestion = "rolecall doctor asks\n";
const agentAnswer = " # too many words";

/**
 * Whether a running rolecall listens at the address of a listener. It needs no credential, and may be refused: an
 * answer without access has rolecall's headers too. A listener with TLS presents its configured certificate.
 */
export function isRunningRolecall(listener: ListenerConfig): Promise<boolean> {
  const target = { host: reachableHost(listener.address), port: listener.port };
  const { tls } = listener.access;
  return within(answerMaxMs, (done) => {
    if (tls !== null) return askTls(target, tls.cert, done);
    if (listener.dialect === "agent") return askAgent(target, done);
    const ofFeature = featureDialects.find(({ name }) => name === listener.dialect);
    return ofFeature?.protocol === "http2" ? askGrpc(target, done) : askHttp(target, done);
  });
}

type Target = { readonly host: string; readonly port: number };
/** Called with the answer, once or more. */
type Done = (isRolecall: boolean) => void;
/** Ends the question. */
type Cancel = () => void;

function askHttp(target: Target, done: Done): Cancel {
  const request = get({ ...target, path: "/livez", agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (more: string) => {
      if (text.length < 65_536) text += more;
    });
    response.on("error", () => done(false));
    response.on("end", () =>
      done(response.headers["x-rolecall-reason"] !== undefined || text.includes('"status":"ok"')),
    );
  });
  request.on("error", () => done(false));
  return () => request.destroy();
}

function askAgent(target: Target, done: Done): Cancel {
  const socket = connectPlain(target, () => socket.write(agentQuestion));
  socket.once("data", (data) => done(data.toString("latin1").startsWith(agentAnswer)));
  socket.on("error", () => done(false));
  socket.on("close", () => done(false));
  return () => socket.destroy();
}

/** Calls the method by which a listener with the dialect xds tells that it is one. */
function askGrpc({ host, port }: Target, done: Done): Cancel {
  const session = connectHttp2(`http://${formatHostPort({ host, port })}`);
  session.on("error", () => done(false));
  const stream = session.request({
    ":method": "POST",
    ":path": "/rolecall.Livez/Get",
    "content-type": "application/grpc",
  });
  stream.on("error", () => done(false));
  stream.on("trailers", (trailers) => done(trailers["grpc-status"] === "0"));
  stream.on("close", () => done(false));
  stream.resume();
  // One message without content.
  stream.end(Buffer.alloc(5));
  return () => session.destroy();
}

/** A client certificate may be required after the handshake: the server's certificate is known by then. */
function askTls(target: Target, certificateFile: string, done: Done): Cancel {
  // Whether the certificate is the configured one is all that is asked: nothing is sent to the server.
  const socket = connectTls({ ...target, rejectUnauthorized: false }, () => {
    done(isCertificateOf(certificateFile, socket.getPeerCertificate().raw));
  });
  socket.on("error", () => done(false));
  socket.on("close", () => done(false));
  return () => socket.destroy();
}

function isCertificateOf(file: string, raw: Buffer): boolean {
  try {
    return new X509Certificate(readFileSync(file)).raw.equals(raw);
  } catch {
    return false;
  }
}

/** Resolves with the first answer, or `false` after `ms` milliseconds. */
function within(ms: number, ask: (done: Done) => Cancel): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (answer: boolean): void => {
      clearTimeout(timer);
      resolve(answer);
      cancel();
    };
    const timer = setTimeout(() => done(false), ms);
    const cancel = ask(done);
  });
}

function reachableHost(address: string): string {
  return address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
}
