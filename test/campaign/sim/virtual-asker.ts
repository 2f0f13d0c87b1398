import type { Question, Said, Word } from "../rolecall/asker.ts";
import type { Subject } from "./subject.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** An answer as parsed from its bytes. */
type Parsed = Pick<Said, "status" | "phrase" | "headers" | "body" | "word">;
/** The part before its body. */
type Head = Pick<Said, "status" | "phrase" | "headers">;

/** Asks a simulated rolecall through its fast path. The same bytes are parsed once. */
export class VirtualAsker {
  readonly #subject: () => Subject;
  readonly #time: VirtualTime;
  readonly #parsed = new WeakMap<Buffer, Parsed>();
  readonly #texts = new Map<string, string>();
  asked = 0;

  constructor(subject: () => Subject, time: VirtualTime) {
    this.#subject = subject;
    this.#time = time;
  }

  askNow(question: Question): Said {
    this.asked += 1;
    const { method, path, node, check } = question;
    const key = method === "GET" ? path : `${method} ${path}`;
    let text = this.#texts.get(key);
    if (text === undefined) {
      text = `${method} ${path} HTTP/1.1\r\nHost: rolecall\r\n\r\n`;
      this.#texts.set(key, text);
    }
    const bytes = this.#subject().answer(text);
    if (bytes === null) throw new Error(`Cannot ask ${path}: the fast path must answer it`);
    let parsed = this.#parsed.get(bytes);
    if (parsed === undefined) {
      parsed = parse(bytes);
      this.#parsed.set(bytes, parsed);
    }
    const nowMs = this.#time.nowMs;
    const { status, phrase, headers, body, word } = parsed;
    return { method, path, node, check, askedMs: nowMs, answeredMs: nowMs, status, phrase, headers, body, word };
  }
}

/** The parsed heads of the answers of a process: most answers have one of few. */
const heads = new Map<string, Head>();
const headsMax = 2_000;

function parse(bytes: Buffer): Parsed {
  const text = bytes.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const body = text.slice(end + 4);
  return { ...headOf(text.slice(0, end)), body, word: wordOf(body) };
}

function headOf(text: string): Head {
  const known = heads.get(text);
  if (known !== undefined) return known;
  const [first = "", ...lines] = text.split("\r\n");
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const head = { status: Number(first.slice(9, 12)), phrase: first.slice(13), headers };
  if (heads.size >= headsMax) heads.clear();
  heads.set(text, head);
  return head;
}

const marker = '"rolecall":';

/** The object that rolecall adds to a document: it is the last member. */
function wordOf(body: string): Word | null {
  const at = body.lastIndexOf(marker);
  return at < 0 ? null : (JSON.parse(body.slice(at + marker.length, body.lastIndexOf("}"))) as Word);
}
