import { Composer, type CST, Lexer, LineCounter, Parser } from "yaml";

/** The most keys of one mapping: a cluster with so many nodes would have them in one. */
const keysMax = 5_000;
/** How deep mappings and lists may be nested. */
const nestedMax = 64;

/**
 * Parses the text of an incident file. A mapping with too many keys is refused before its end is read: the library
 * compares each key with all others.
 * @throws Error for a text that is no single YAML document, or has too large or too deep mappings
 */
export function parseIncidentText(text: string): unknown {
  const lines = new LineCounter();
  const [document, ...more] = new Composer().compose(tokensOf(text, lines));
  const [error] = document?.errors ?? [];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw new Error(`${error.message} at line ${line}, column ${col}`);
  }
  if (more.length > 0) throw new Error("an incident file must be one YAML document, got several");
  return document === undefined ? null : document.toJS();
}

/** The tokens of the text, bounded while they are read. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token> {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    refuseTooMuch(parser.stack);
  }
  yield* parser.end();
}

function refuseTooMuch(open: readonly CST.Token[]): void {
  if (open.length > nestedMax) throw new Error(`mappings and lists must be nested at most ${nestedMax} deep, got more`);
  const token = open.at(-1);
  const isMapping = token?.type === "block-map" || (token?.type === "flow-collection" && token.start.source === "{");
  if (isMapping && token.items.length > keysMax)
    throw new Error(`a mapping must have at most ${keysMax} keys, got more`);
}
