import { transformSync } from "esbuild";
import type { Mutant } from "./mutant.ts";

interface Place {
  readonly start: number;
  readonly end: number;
  readonly mutants: { readonly number: number; readonly replacement: string }[];
  readonly inner: Place[];
}

/**
 * Returns JavaScript that holds the source and all its mutants: `mutant(N)` selects number N at run time. So a process
 * loads its tests once for many mutants.
 * @param first the number of the first mutant
 */
export function instrumented(source: string, mutants: readonly Mutant[], first: number): string {
  const top: Place[] = [];
  const open: Place[] = [];
  const byPlace = [...mutants.entries()].sort(
    ([oneAt, one], [otherAt, other]) => one.start - other.start || other.end - one.end || oneAt - otherAt,
  );
  for (const [at, { start, end, replacement }] of byPlace) {
    while (open.length > 0 && (open.at(-1)?.end ?? 0) <= start) open.pop();
    let place = open.at(-1);
    if (place?.start !== start || place.end !== end) {
      const inner: Place = { start, end, mutants: [], inner: [] };
      (place?.inner ?? top).push(inner);
      open.push(inner);
      place = inner;
    }
    place.mutants.push({ number: first + at, replacement });
  }
  const text = render(source, { start: 0, end: source.length, mutants: [], inner: top });
  const { code } = transformSync(text, { loader: "ts", target: "es2023", format: "esm" });
  return code.replaceAll(/(\bfrom|\bimport\(?)(\s*)"(\.[^"]*)\.ts"/g, '$1$2"$3.js"');
}

function render(source: string, place: Place): string {
  let text = "";
  let at = place.start;
  for (const inner of place.inner) {
    text += source.slice(at, inner.start) + render(source, inner);
    at = inner.end;
  }
  text += source.slice(at, place.end);
  if (place.mutants.length === 0) return text;
  const choices = place.mutants.map(({ number, replacement }) => `mutant(${number}) ? (${replacement}) : `);
  return `(${choices.join("")}(${text}))`;
}
