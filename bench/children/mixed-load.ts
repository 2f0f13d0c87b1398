/**
 * `mixed-load URL SECONDS CONNECTIONS TARGETS`: asks the targets (JSON, method and path each) in turn on kept connections, one question at a time on
 * each, as fast as answers come. It knows that the answer to a HEAD has no body. Writes how it went as one line of JSON (bench/weather.ts).
 */
import { connect, type Socket } from "node:net";
import type { Target } from "../weather.ts";

const [url = "", seconds = "1", connections = "64", targets = "[]"] = process.argv.slice(2);
const { hostname, port, host } = new URL(url);
const questions = (JSON.parse(targets) as readonly Target[]).map(({ method, path }) => ({
  isHead: method === "HEAD",
  bytes: Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
}));

let answers = 0;
let unanswered = 0;
let failures = 0;
let strange = 0;
let isOver = false;
const open = new Set<Socket>();

/** How many bytes the answer has that begins here, or `undefined` while its head is not complete. */
function sizeOf(text: string, isHead: boolean): number | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1];
  if (length === undefined) throw new Error("Cannot read an answer as it must say its Content-Length: it does not");
  return end + 4 + (isHead ? 0 : Number(length));
}

function come(first: number): void {
  let at = first;
  let text = "";
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  const ask = (): void => {
    const question = questions[(at += 1) % questions.length];
    if (question !== undefined) socket.write(question.bytes);
  };
  open.add(socket);
  socket.on("connect", ask);
  socket.on("data", (chunk) => {
    if (isOver) return;
    text += chunk.toString("latin1");
    const size = sizeOf(text, questions[at % questions.length]?.isHead ?? false);
    if (size === undefined || text.length < size) return;
    // A body after the answer to a HEAD, or an answer to no question.
    if (text.length > size)
      throw new Error(
        `Cannot read an answer of ${size} bytes as it must end there: ${text.length - size} bytes follow`,
      );
    count(Number(text.slice(9, 12)));
    text = "";
    ask();
  });
  socket.on("error", () => {}); // closes below
  socket.on("close", () => {
    open.delete(socket);
    if (isOver) return;
    unanswered += 1;
    failures += 1;
    setTimeout(() => come(at), 10); // a server that refuses must not keep this one busy
  });
}

function count(status: number): void {
  answers += 1;
  if (status >= 200 && status < 300) return;
  failures += 1;
  if (status !== 503) strange += 1;
}

// Each connection begins with another question, so that all are asked at any time.
for (let each = 0; each < Number(connections); each += 1) come(each);
setTimeout(
  () => {
    isOver = true;
    for (const socket of open) socket.destroy();
    process.stdout.write(
      `${JSON.stringify({ answersPerSecond: answers / Number(seconds), failures, unanswered, strange })}\n`,
    );
  },
  Number(seconds) * 1_000,
);
