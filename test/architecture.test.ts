import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { describe, test } from "node:test";

/**
 * Each room of src, and the rooms it may open a door to (design.md, "The house"). What lies at the top is a room of one file.
 * Configuration is read by those who are made by it; the pure rooms know nothing of it.
 */
const doors: Readonly<Record<string, readonly string[]>> = {
  cluster: [],
  health: ["cluster"],
  config: ["cluster", "health"],
  // An exporter's page is read as it comes in: the reader lives with those who write such pages.
  probe: ["cluster", "health", "config", "metrics"],
  front: ["cluster", "health", "config"],
  gateway: ["cluster", "health", "config"],
  balancers: ["cluster", "health", "config", "front"],
  metrics: ["cluster", "health", "config"],
  simulator: [],
  store: ["cluster", "health"],
  clock: [],
  version: [],
  reloader: [],
  readiness: ["health", "store"],
  "exporter-door": ["cluster", "config", "front", "health", "metrics", "tend", "version"],
  log: ["config", "metrics"],
  "document-log": ["cluster", "log", "metrics", "probe"],
  tend: ["cluster", "health", "config", "store"],
  "members-file": ["cluster", "health", "config", "log", "tend", "drains-file", "state-file", "accusations-file"],
  "accusations-file": ["cluster", "store", "state-file"],
  gatehouse: ["config", "front", "gateway", "log", "metrics"],
  "state-file": ["cluster"],
  "drains-file": ["cluster", "state-file"],
  drains: ["cluster", "health", "store", "clock", "log", "drains-file"],
  chronicle: ["cluster", "health", "log", "metrics", "clock"],
  // A worker answers as the first process would; it neither asks nodes nor keeps metrics.
  workers: ["cluster", "config", "front", "gateway", "store", "clock", "log", "tend", "readiness"],
  entrances: ["cluster", "config", "front", "log", "workers"],
  answering: ["chronicle", "clock", "config", "drains", "exporter-door", "front", "gatehouse", "metrics", "store"],
  app: [
    "answering",
    "chronicle",
    "entrances",
    "workers",
    "gatehouse",
    "cluster",
    "health",
    "config",
    "probe",
    "front",
    "gateway",
    "balancers",
    "metrics",
    "store",
    "clock",
    "log",
    "tend",
    "members-file",
    "document-log",
    "drains-file",
    "accusations-file",
    "drains",
    "readiness",
    "exporter-door",
    "version",
  ],
  // Commands that need no running rolecall probe once themselves.
  cli: [
    "app",
    "reloader",
    "config",
    "front",
    "log",
    "simulator",
    "cluster",
    "health",
    "probe",
    "store",
    "tend",
    "version",
  ],
  main: ["cli"],
};

/** What nothing pure may read: time, chance, the process, the network. */
const windows =
  /\b(Date\.now|new Date|Math\.random|performance\b|process\.|console\.|setTimeout|setInterval|setImmediate|fetch\(|async |await )/;

interface Source {
  readonly file: string;
  readonly room: string;
  readonly text: string;
  readonly imports: readonly string[];
  /** Those that are there when the program runs: types are gone then. */
  readonly values: readonly string[];
}

const sources: readonly Source[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => {
    const text = readFileSync(join("src", file), "utf8");
    const imports = specifiers(text);
    const values = specifiers(text.replace(/(^|\n)(import|export) type [^;]*;/g, "$1"));
    return { file, room: roomOf(file), text, imports, values };
  });

function specifiers(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|\n)(?:import|export)[^;]*?from\s+"([^"]+)"|\bimport\("([^"]+)"\)/g)].map(
    (match) => match[1] ?? match[2] ?? "",
  );
}

function roomOf(file: string): string {
  return file.includes(sep) ? (file.split(sep)[0] ?? "") : file.replace(/\.ts$/, "");
}

/** The files of src that are meant by specifiers in a file. */
function filesOf({ file }: Source, names: readonly string[]): readonly string[] {
  return names.filter((name) => name.startsWith(".")).map((name) => join(dirname(file), name));
}

describe("the house", () => {
  test("has no room that this test does not know", () => {
    assert.deepEqual(
      [...new Set(sources.map(({ room }) => room))].filter((room) => !(room in doors)),
      [],
    );
  });

  for (const room of [...new Set(sources.map((source) => source.room))].sort()) {
    test(`${room} opens doors only to ${doors[room]?.join(", ") || "nothing"}`, () => {
      const allowed = [room, ...(doors[room] ?? [])];
      const wrong = sources
        .filter((source) => source.room === room)
        .flatMap((source) => filesOf(source, source.imports).map((target) => ({ from: source.file, to: target })))
        .filter(({ to }) => !allowed.includes(roomOf(to)));
      assert.deepEqual(wrong, []);
    });
  }

  test("has no cycle of files", () => {
    const graph = new Map(sources.map((source) => [source.file, filesOf(source, source.values)]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      if (path.includes(file) || done.has(file)) return;
      for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
      done.add(file);
    };
    for (const file of graph.keys()) walk(file, []);
    assert.deepEqual(cycles, []);
  });

  test("imports no file that is not there", () => {
    const files = new Set(sources.map(({ file }) => file));
    assert.deepEqual(
      sources.flatMap((source) => filesOf(source, source.imports).filter((file) => !files.has(file))),
      [],
    );
  });

  test("keeps every file within 250 lines, and calls none utils", () => {
    assert.deepEqual(
      sources
        .filter(({ text, file }) => text.split("\n").length > 251 || /util|helper|common|misc/.test(file))
        .map(({ file }) => file),
      [],
    );
  });

  test("casts nothing", () => {
    const cast = /\bas (?!const\b)[A-Za-z{[(]|: any\b|<any>/;
    const lines = sources.flatMap(({ file, text }) => codeOf(text).map((line) => `${file}: ${line.trim()}`));
    assert.deepEqual(
      lines.filter((line) => cast.test(line) && !/\b(import|export)\b|\* as /.test(line)),
      [],
    );
  });
});

for (const room of ["cluster", "health"]) {
  describe(`${room} is pure`, () => {
    for (const { file, imports, text } of sources.filter((source) => source.room === room)) {
      test(`${file} opens no window`, () => {
        assert.deepEqual(
          imports.filter((name) => !name.startsWith(".")),
          [],
        );
        assert.deepEqual(
          codeOf(text).filter((line) => windows.test(line)),
          [],
        );
      });
    }
  });
}

/** The lines without comments and without what stands in quotes. */
function codeOf(text: string): readonly string[] {
  return text
    .replace(/\/\*[^]*?\*\/|`[^`]*`/g, "")
    .split("\n")
    .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\/\/.*$/, ""));
}
