/**
 * As much of the PostgreSQL protocol as this bench needs: connections without a password, simple queries, and the first
 * column of the first row. A writer opens many connections in front of each pool, so it has to be cheap.
 */

/** What the server sent, read so far. */
export interface Reading {
  /** The columns of the first row; `null` for SQL null. */
  readonly row: readonly (string | null)[];
  /** SQLSTATE of the first error, such as `25006` (read-only transaction). */
  readonly error: string | undefined;
  /** Statements that were completed, which means committed. */
  readonly completed: number;
  /** Whether the server waits for the next query. */
  readonly isIdle: boolean;
}

/** The start of a session of user postgres in database postgres. */
export const startup: Buffer = startupMessage({ user: "postgres", database: "postgres" });

/** The end of a session: the server closes the connection after it. */
export const terminate: Buffer = message("X", "");

/** The message of one statement, or several parted by semicolons. */
export function query(statement: string): Buffer {
  return message("Q", `${statement}\0`);
}

/** Reads the messages of a server from the pieces in which they arrive. */
export class WireReader {
  #rest: Buffer = Buffer.alloc(0);
  #row: readonly (string | null)[] | undefined;
  #error: string | undefined;
  #completed = 0;
  #isIdle = false;

  /** Forgets the result of the last query, before the next one is sent. */
  clear(): void {
    this.#row = undefined;
    this.#error = undefined;
    this.#completed = 0;
    this.#isIdle = false;
  }

  /** Takes the next piece. @throws Error if it is not of this protocol, or a message is above 1 MB */
  push(piece: Buffer): Reading {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    let at = 0;
    while (bytes.length - at >= 5) {
      const length = bytes.readInt32BE(at + 1);
      if (length < 4 || length > 1_048_576)
        throw new Error(`Cannot read a message: its length must be 4 to 1048576, got ${length}`);
      if (bytes.length - at < length + 1) break;
      this.#take(String.fromCharCode(bytes[at] ?? 0), bytes.subarray(at + 5, at + 1 + length));
      at += length + 1;
    }
    this.#rest = bytes.subarray(at);
    return { row: this.#row ?? [], error: this.#error, completed: this.#completed, isIdle: this.#isIdle };
  }

  #take(kind: string, body: Buffer): void {
    if (kind === "D") this.#row ??= columnsOf(body);
    else if (kind === "E") this.#error ??= stateOf(body);
    else if (kind === "C") this.#completed += 1;
    else if (kind === "Z") this.#isIdle = true;
  }
}

function columnsOf(body: Buffer): readonly (string | null)[] {
  const columns: (string | null)[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left -= 1) {
    const length = body.readInt32BE(at);
    columns.push(length < 0 ? null : body.toString("utf8", at + 4, at + 4 + length));
    at += 4 + Math.max(0, length);
  }
  return columns;
}

/** The field `C` of an error. */
function stateOf(body: Buffer): string {
  const fields = body.toString("utf8").split("\0");
  return fields.find((field) => field.startsWith("C"))?.slice(1) ?? "?";
}

function message(kind: string, body: string): Buffer {
  const text = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(kind);
  head.writeInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const text = Buffer.from(
    `${Object.entries(parameters)
      .map(([name, value]) => `${name}\0${value}\0`)
      .join("")}\0`,
  );
  const head = Buffer.alloc(8);
  head.writeInt32BE(text.length + 8, 0);
  head.writeInt32BE(196_608, 4); // protocol 3.0
  return Buffer.concat([head, text]);
}
