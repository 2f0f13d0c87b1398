import type { Question, Said, Word } from "../rolecall/asker.ts";
import type { Subject } from "./subject.ts";
import type { SeenTime } from "./virtual-time.ts";

/** The part of an answer before its body. */
type Head = Pick<Said, "status" | "phrase" | "headers">;

/** A question as its bytes, and the last answer to it. */
interface Asked {
  readonly text: string;
  bytes: Buffer;
  /** The length of the part before the body. */
  headLength: number;
  head: Head;
  body: string;
  word: Word | null;
}

/** Asks a simulated rolecall through its fast path. The head of an answer is parsed where it differs from the last. */
export class VirtualAsker {
  readonly #subject: () => Subject;
  readonly #time: SeenTime;
  readonly #asked = new Map<string, Asked>();
  asked = 0;

  constructor(subject: () => Subject, time: SeenTime) {
    this.#subject = subject;
    this.#time = time;
  }

  askNow(question: Question): Said {
    this.asked += 1;
    const { method, path, node, check } = question;
    const key = method === "GET" ? path : `${method} ${path}`;
    let asked = this.#asked.get(key);
    if (asked === undefined) this.#asked.set(key, (asked = neverAsked(method, path)));
    const bytes = this.#subject().answer(asked.text);
    if (bytes === null) throw new Error(`Cannot ask ${path}: the fast path must answer it`);
    if (bytes !== asked.bytes) read(asked, bytes);
    const nowMs = this.#time.nowMs;
    const { body, word } = asked;
    const { status, phrase, headers } = asked.head;
    return { method, path, node, check, askedMs: nowMs, answeredMs: nowMs, status, phrase, headers, body, word };
  }
}

const nothing = Buffer.alloc(0);
const noHead: Head = { status: 0, phrase: "", headers: new Map() };

function neverAsked(method: string, path: string): Asked {
  const text = `${method} ${path} HTTP/1.1\r\nHost: rolecall\r\n\r\n`;
  return { text, bytes: nothing, headLength: 0, head: noHead, body: "", word: null };
}

/** Parses an answer. Most answers have the head of the one before. */
function read(asked: Asked, bytes: Buffer): void {
  const { headLength: length } = asked;
  const isSame = length > 0 && bytes.length >= length && bytes.compare(asked.bytes, 0, length, 0, length) === 0;
  if (!isSame) {
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) throw new Error("Cannot read an answer: it must have an empty line after its headers");
    asked.headLength = end + 4;
    asked.head = headOf(bytes.toString("latin1", 0, asked.headLength - 4));
  }
  asked.bytes = bytes;
  asked.body = bytes.toString("latin1", asked.headLength);
  asked.word = wordOf(asked.body);
}

/** The parsed heads of the answers of a process: most answers have one of few. */
const heads = new Map<string, Head>();
const headsMax = 2_000;

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
