import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import * as evidence from "../src/core/cluster/evidence/evidence-fields.ts";
import type { SomeFields } from "../src/core/cluster/evidence/fields.ts";
import { codeOf, cyclesOf, exportedNames, readSources, type SourceFile, topOf } from "./fake/source-files.ts";

/** What `test/spec/architecture.yaml` holds; the comments there give the reasons. */
interface Spec {
  readonly constructedElsewhere: Readonly<Record<string, string>>;
  readonly fieldsNamedBesideTheirRow: Readonly<Record<string, string>>;
}

const spec: Spec = parse(readFileSync("test/spec/architecture.yaml", "utf8"));
const sources = readSources("src");
const folders = [...new Set(sources.map(({ folder }) => folder))].sort();

describe("imports of src", () => {
  test("no folder imports itself through others, `import type` included", () => {
    assert.deepEqual(
      cyclesOf(folders, (folder) => importedBy(folder)),
      [],
    );
  });

  test("no top-level folder imports itself through others, `import type` included", () => {
    const edges = new Map<string, readonly string[]>();
    for (const { top, imports } of sources)
      edges.set(top, [...(edges.get(top) ?? []), ...imports.map(topOf).filter((other) => other !== top)]);
    assert.deepEqual(
      cyclesOf([...edges.keys()], (top) => edges.get(top) ?? []),
      [],
    );
  });

  test("no file imports itself through others, `import type` included", () => {
    const edges = new Map(sources.map(({ file, imports }) => [file, imports]));
    assert.deepEqual(
      cyclesOf([...edges.keys()], (file) => edges.get(file) ?? []),
      [],
    );
  });

  test("only main.ts lies at the top", () => {
    assert.deepEqual(
      sources.filter(({ file }) => !file.includes("/")).map(({ file }) => file),
      ["main.ts"],
    );
  });

  test("core can be read: its size, and that of what probes and answers", (context) => {
    const lines = (files: readonly SourceFile[]): string => {
      const total = files.reduce((sum, { text }) => sum + text.split("\n").length - 1, 0);
      return `${total} lines in ${files.length} files`;
    };
    const core = sources.filter(({ file }) => file.startsWith("core/"));
    const known = new Map(sources.map((source) => [source.file, source]));
    const reached = new Set<SourceFile>();
    const reach = (file: string): void => {
      const source = known.get(file);
      if (source === undefined || reached.has(source)) return;
      reached.add(source);
      source.imports.forEach(reach);
    };
    for (const file of [
      "probe/probers.ts",
      "state/store.ts",
      "http/node-api/node-handler.ts",
      "http/listener/listener-set.ts",
    ])
      reach(`core/${file}`);
    assert.ok(reached.size > 4 && [...reached].every(({ file }) => file.startsWith("core/")));
    context.diagnostic(`core: ${lines(core)}; probers, store, node API and listeners: ${lines([...reached])}`);
  });

  test("only http/listener imports http/fast-path", () => {
    const importers = folders.filter((folder) => importedBy(folder).includes("core/http/fast-path"));
    assert.deepEqual(importers, ["core/http/listener"]);
  });

  for (const [one, others] of [
    ["core/probe", ["core/http", "core/state"]],
    ["core/http", ["core/probe", "core/state"]],
  ] as const) {
    test(`${one} knows neither ${others.join(" nor ")}`, () => {
      const tops = sources.filter(({ top }) => top === one).flatMap(({ imports }) => imports.map(topOf));
      assert.deepEqual(
        others.filter((other) => tops.includes(other)),
        [],
      );
    });
  }

  test("imports go main, cli, tools, app, features, core, never back", () => {
    const layers = ["main.ts", "cli", "tools", "app", "features", "core"];
    const layerOf = (top: string): number => layers.indexOf(top.split("/")[0] ?? "");
    const found = sources.flatMap(({ file, top, imports }) =>
      imports
        .filter((other) => {
          const [own, at] = [layerOf(top), layerOf(topOf(other))];
          return at < own;
        })
        .map((other) => `${file} imports ${other}`),
    );
    assert.deepEqual(found, []);
  });

  test("only the demo imports the simulator", () => {
    const importers = sources.filter(
      ({ file, imports }) =>
        !file.startsWith("tools/simulator/") && imports.some((other) => other.startsWith("tools/simulator/")),
    );
    assert.deepEqual([...new Set(importers.map(({ folder }) => folder))], ["tools/demo"]);
  });
});

describe("features of src", () => {
  const featureOf = (file: string): string | null => /^features\/([^/]+)\//.exec(file)?.[1] ?? null;

  test("a feature imports neither another feature, nor app, nor the commands of the core", () => {
    const found = sources.flatMap(({ file, imports }) => {
      const own = featureOf(file);
      if (own === null) return [];
      const others = imports.filter(
        (other) => (featureOf(other) ?? own) !== own || ["app", "cli", "main.ts", "tools"].includes(topOf(other)),
      );
      return others.map((other) => `${file} imports ${other}`);
    });
    assert.deepEqual(found, []);
  });

  test("outside its folder only the registries name a feature", () => {
    const found = sources
      .filter(({ file }) => featureOf(file) === null && !file.startsWith("app/registry/"))
      .flatMap(({ file, imports }) =>
        imports.filter((other) => featureOf(other) !== null).map((other) => `${file} imports ${other}`),
      );
    assert.deepEqual(found, []);
  });

  test("each that runs in the service has a row in the registry of features, by the name of its folder", () => {
    const [registry] = sources.filter(({ file }) => file === "app/registry/features.ts");
    const named = [...(registry?.text ?? "").matchAll(/features\/([^/]+)\/feature\.ts"/g)].map(([, name]) => name);
    const all = new Set(sources.flatMap(({ file }) => /^features\/([^/]+)\/feature\.ts$/.exec(file)?.[1] ?? []));
    assert.deepEqual(new Set(named), all);
  });

  test("each is named by a registry", () => {
    const named = sources
      .filter(({ file }) => file.startsWith("app/registry/"))
      .flatMap(({ imports }) => imports.flatMap((other) => featureOf(other) ?? []));
    assert.deepEqual(new Set(named), new Set(sources.flatMap(({ file }) => featureOf(file) ?? [])));
  });
});

describe("fields of evidence", () => {
  test("what writes and reads evidence names no field beside its row, except those that the table gives a reason for", () => {
    const encoders = [
      "core/cluster/incident",
      "core/events/incident",
      "features/history/store",
      "core/outcomes",
      "features/follow/feed",
      "features/replay/file",
    ];
    const rows = Object.entries(evidence).flatMap(([name, table]): (readonly [string, SomeFields[string]])[] =>
      name.endsWith("Fields") ? Object.entries(table) : [],
    );
    // Names of one word mean other things too.
    const names = rows.map(([name]) => name).filter((name) => /[A-Z]/.test(name));
    const keys = rows.flatMap(([, { incident }]) =>
      incident === false || !incident[0].includes("_") ? [] : [incident[0]],
    );
    const found = sources
      .filter(({ folder }) => encoders.includes(folder))
      .flatMap(({ file, text }) => {
        const code = codeOf(text).join("\n");
        const named = names.filter((name) => new RegExp(`(?<![\\w.])${name}\\b`).test(code));
        const keyed = keys.filter((key) => text.includes(`"${key}"`));
        return [...named, ...keyed].map((name) => `${file} ${name}`);
      });
    assert.deepEqual([...new Set(found)].sort(), Object.keys(spec.fieldsNamedBesideTheirRow).sort());
  });
});

describe("names of src", () => {
  test("one exported name has one meaning", () => {
    const files = new Map<string, string[]>();
    for (const { file, text } of sources)
      for (const name of exportedNames(text)) files.set(name, [...(files.get(name) ?? []), file]);
    assert.deepEqual(
      [...files].filter(([, places]) => places.length > 1),
      [],
    );
  });

  test("no file is called utils", () => {
    assert.deepEqual(
      sources.filter(({ file }) => /util|helper|common|misc/.test(file)).map(({ file }) => file),
      [],
    );
  });
});

describe("wiring of src", () => {
  test("only app and the openings of features construct objects of other folders but balancing and command, except those that the table gives a reason for", () => {
    const home = new Map<string, string>();
    for (const { text, top } of sources)
      for (const [, name = ""] of text.matchAll(/^export (?:abstract )?class (\w+)/gm)) home.set(name, top);
    const found = sources
      .filter(({ top, file }) => top !== "app" && !/^features\/\w+\/open-/.test(file))
      .flatMap(({ text, top, file }) =>
        [
          ...codeOf(text)
            .join("\n")
            .matchAll(/\bnew (\w+)/g),
        ]
          .map(([, name = ""]) => name)
          .filter(
            (name) =>
              !["core/balancing", "core/command", top].includes(home.get(name) ?? top) && !name.endsWith("Error"),
          )
          .map((name) => `${file} constructs ${name}`),
      );
    assert.deepEqual([...new Set(found)].sort(), Object.keys(spec.constructedElsewhere).sort());
  });

  test("constructors do no I/O and start no timers", () => {
    const effect =
      /\b(setTimeout|setInterval|setImmediate|queueMicrotask|readFileSync|writeFileSync|readFile|watch|listen|fork|spawn|fetch)\(|(?<!\.)\bconnect\(|\bprocess\.on\b/;
    const found = sources.flatMap(({ file, text }) =>
      constructorsOf(text).flatMap((body) => {
        const call = effect.exec(codeOf(body).join("\n"));
        return call === null ? [] : [`${file}: ${call[0]}`];
      }),
    );
    assert.deepEqual(found, []);
  });
});

describe("files of src", () => {
  test("cast nothing", () => {
    const cast = /\bas (?!const\b)[A-Za-z{[(]|: any\b|<any>/;
    const lines = sources.flatMap(({ file, text }) => codeOf(text).map((line) => `${file}: ${line.trim()}`));
    assert.deepEqual(
      lines.filter((line) => cast.test(line) && !/\b(import|export)\b|\* as /.test(line)),
      [],
    );
  });

  test("only program asks where its code is: a bundle and the executable have other places", () => {
    const asking = sources.filter(({ text }) => codeOf(text).some((line) => /\bimport\.meta\b|__dirname/.test(line)));
    assert.deepEqual([...new Set(asking.map(({ top }) => top))], ["core/program"]);
  });

  test("only http/fast-path uses undocumented parts of Node", () => {
    const undocumented = /process\.binding|"binding"|"_handle"|\._[a-z]\w*/;
    const found = sources.filter(
      ({ folder, text }) =>
        folder !== "core/http/fast-path" && undocumented.test(text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "")),
    );
    assert.deepEqual(
      found.map(({ file }) => file),
      [],
    );
  });
});

/** What pure code must not use: time, chance, the process, the network. */
const impure =
  /\b(Date\.now|new Date\b(?!\(\w)|Math\.random|performance\b|process\.|console\.|setTimeout|setInterval|setImmediate|fetch\(|async |await )/;

for (const folder of [
  "core/cluster/",
  "core/health/",
  "core/pools/",
  "features/audit/core/",
  "features/switchover/machine/",
  "features/switchover/preflight/",
]) {
  describe(`${folder} is pure`, () => {
    test("there are such files", () => assert.ok(sources.some(({ file }) => file.startsWith(folder))));
    for (const { file, text } of sources.filter((source) => source.file.startsWith(folder))) {
      test(`${file} imports no package and reads neither clock nor chance`, () => {
        assert.deepEqual(packagesOf(text), []);
        assert.deepEqual(
          codeOf(text).filter((line) => impure.test(line)),
          [],
        );
      });
    }
  });
}

describe("replay runs in a browser", () => {
  // The events that are found and the verdicts that change are part of it.
  const parts = sources.filter(
    ({ folder }) => /^features\/replay\/(core|file)$/.test(folder) || folder === "core/events/detection",
  );
  for (const { file, text } of parts) {
    test(`${file} imports no package and no module of Node`, () => {
      assert.deepEqual(packagesOf(text), []);
      assert.deepEqual(
        codeOf(text).filter((line) =>
          /\b(Date\.now|Math\.random|performance\b|process\.|setTimeout|setInterval)/.test(line),
        ),
        [],
      );
    });
  }
});

function folderOf(file: string): string {
  return file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : ".";
}

/** The folders that a folder's own files import. */
function importedBy(folder: string): readonly string[] {
  const imports = sources
    .filter((source) => source.folder === folder)
    .flatMap((source) => source.imports.map(folderOf));
  return [...new Set(imports)].filter((other) => other !== folder);
}

function packagesOf(text: string): readonly string[] {
  return [...text.matchAll(/\bfrom "([^."][^"]*)"/g)].map(([, name = ""]) => name);
}

/** The bodies of the constructors of a file, braces matched on code without strings. */
function constructorsOf(text: SourceFile["text"]): readonly string[] {
  const code = codeOf(text).join("\n");
  return [...code.matchAll(/\bconstructor\s*\(/g)].map(({ index }) => {
    const start = code.indexOf(") {", index);
    let depth = 0;
    for (let at = start + 2; at < code.length; at += 1) {
      if (code[at] === "{") depth += 1;
      if (code[at] === "}") depth -= 1;
      if (depth === 0) return code.slice(start, at);
    }
    return code.slice(start);
  });
}
