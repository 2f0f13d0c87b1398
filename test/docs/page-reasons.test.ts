import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { hardReasons, softReasons } from "../../src/core/health/reason.ts";

const file = "src/features/page/web/reasons.json";

/** The sections of docs/reasons.md as plain text: reason -> heading of each part -> text. */
function reasonTexts(): string {
  const text = readFileSync("docs/reasons.md", "utf8");
  const entries = [...hardReasons, ...softReasons].map((reason) => {
    const section = new RegExp(`^## ${reason}\\n([^]*?)(?=^## |$(?![^]))`, "m").exec(text)?.[1] ?? "";
    const parts = [...section.matchAll(/^\*\*([^*]+)\.\*\* (\S[^]*?)(?=\n\n|\n?$(?![^]))/gm)];
    return [reason, Object.fromEntries(parts.map(([, part = "", content = ""]) => [part, plain(content)]))];
  });
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll("`", "")
    .replace(/\s+/g, " ")
    .trim();
}

test("src/features/page/web/reasons.json: holds what docs/reasons.md says (UPDATE_DOCS=1 writes it)", () => {
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, reasonTexts());
  assert.equal(readFileSync(file, "utf8"), reasonTexts());
});
