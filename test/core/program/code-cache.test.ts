import assert from "node:assert/strict";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { codeCacheFile, codeCacheFolder, readCodeCache, writeCodeCache } from "../../../src/core/program/code-cache.ts";

const source = "(function () {})";
const url = "file:///usr/lib/rolecall/dist/serve.cjs";
const data = Buffer.from("compiled code");
const isRoot = process.geteuid?.() === 0;

function folder(context: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "rolecall-code-cache-"));
  context.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A cache that is written. */
function written(context: TestContext): string {
  const file = codeCacheFile(join(folder(context), "rolecall"), { bundle: "serve", url, source });
  writeCodeCache(file, source, data);
  return file;
}

test("installations in two places have a file each, since V8 keeps the place in its cache", () => {
  const of = (place: string): string => codeCacheFile("/cache", { bundle: "serve", url: place, source });
  assert.equal(of(url), of(url));
  assert.notEqual(of(url), of("file:///opt/rolecall/dist/serve.cjs"));
});

/** Damages that must make a cache count as absent. */
const damages: Readonly<Record<string, (file: string) => void>> = {
  "one byte of it differs": (file) => {
    const content = readFileSync(file);
    content.writeUInt8(content.readUInt8(content.length - 1) ^ 1, content.length - 1);
    writeFileSync(file, content);
  },
  "it is cut off": (file) => writeFileSync(file, readFileSync(file).subarray(0, 40)),
  "it is empty": (file) => writeFileSync(file, ""),
  "it does not exist": (file) => rmSync(file),
  "its group may write it": (file) => chmodSync(file, 0o620),
  "everybody may write it": (file) => chmodSync(file, 0o602),
  "everybody may write its folder": (file) => chmodSync(dirname(file), 0o707),
  "it is a symbolic link": (file) => {
    renameSync(file, `${file}.real`);
    symlinkSync(`${file}.real`, file);
  },
  "its folder is a symbolic link": (file) => {
    renameSync(dirname(file), `${dirname(file)}.real`);
    symlinkSync(`${dirname(file)}.real`, dirname(file));
  },
  "it is a folder": (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

describe("a code cache", () => {
  test("is read as it was written, and nobody else can read it", (context) => {
    const file = written(context);
    assert.deepEqual(readCodeCache(file, source), data);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(file)).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dirname(file)), [basename(file)]);
  });

  test("of another source of the same length is not read", (context) => {
    assert.equal(readCodeCache(written(context), source.replace("{}", "[]")), null);
  });

  for (const [what, damage] of Object.entries(damages))
    test(`is not read if ${what}`, (context) => {
      const file = written(context);
      damage(file);
      assert.equal(readCodeCache(file, source), null);
    });

  for (const [what, pathOf] of [
    ["the file", (file: string) => file],
    ["the folder", (file: string) => dirname(file)],
  ] as const)
    test(`is not read if another user owns ${what}`, { skip: isRoot ? false : "not run: needs root" }, (context) => {
      const file = written(context);
      chownSync(pathOf(file), 12345, 12345);
      assert.equal(readCodeCache(file, source), null);
    });

  test("is not written into a folder that others can write", (context) => {
    const open = join(folder(context), "rolecall");
    mkdirSync(open);
    chmodSync(open, 0o777);
    writeCodeCache(join(open, "serve.cache"), source, data);
    assert.deepEqual(readdirSync(open), []);
  });

  test("is not written where a file stands in the place of its folder, and that is no error", (context) => {
    const place = join(folder(context), "rolecall");
    writeFileSync(place, "");
    writeCodeCache(join(place, "serve.cache"), source, data);
    assert.equal(readFileSync(place, "utf8"), "");
  });

  test("is not written if its name is taken by a folder, and leaves nothing behind", (context) => {
    const file = join(folder(context), "rolecall", "serve.cache");
    mkdirSync(file, { recursive: true, mode: 0o700 });
    writeCodeCache(file, source, data);
    assert.deepEqual(readdirSync(dirname(file)), ["serve.cache"]);
  });

  test("replaces the one before it", (context) => {
    const file = written(context);
    writeCodeCache(file, source, Buffer.from("other code"));
    assert.equal(readCodeCache(file, source)?.toString(), "other code");
  });
});

describe("a folder with caches of many versions", () => {
  /** The bundles of versions, and their ages in days. */
  function filled(context: TestContext, bundle: string, ages: readonly number[]): readonly string[] {
    const place = folder(context);
    return ages.map((days) => {
      const file = codeCacheFile(place, { bundle, url, source: source + " ".repeat(days) });
      writeCodeCache(file, source, data);
      utimesSync(file, 86_400 * (1_000 - days), 86_400 * (1_000 - days));
      return file;
    });
  }

  test("holds a file for each version", (context) => {
    const files = filled(context, "serve", [3, 2, 1]);
    assert.deepEqual(
      files.map((file) => readCodeCache(file, source)?.toString()),
      Array(3).fill(data.toString()),
    );
  });

  test("keeps the four newest ones, the one that was just written among them", (context) => {
    const files = filled(context, "serve", [9, 8, 1, 2, 3]);
    const last = codeCacheFile(dirname(files[0] ?? ""), { bundle: "serve", url, source: `${source};`.repeat(40) });
    writeCodeCache(last, source, data);
    const kept = [last, ...files.slice(2)].map((file) => basename(file));
    assert.deepEqual(readdirSync(dirname(last)).toSorted(), kept.toSorted());
  });

  test("loses what processes left behind that were killed while they wrote", (context) => {
    const [file = ""] = filled(context, "serve", [1]);
    for (const pid of [11, 12, 13, 14, 15]) {
      writeFileSync(`${file}.${pid}`, "half of a ca");
      utimesSync(`${file}.${pid}`, pid, pid);
    }
    writeCodeCache(file, source, data);
    assert.equal(readdirSync(dirname(file)).length, 4);
    assert.deepEqual(readCodeCache(file, source), data);
  });

  test("keeps the caches of other bundles, and files that are no caches", (context) => {
    const [file = ""] = filled(context, "worker", [400]);
    writeFileSync(join(dirname(file), "README"), "");
    for (let length = 1; length <= 9; length += 1)
      writeCodeCache(codeCacheFile(dirname(file), { bundle: "serve", url, source: " ".repeat(length) }), source, data);
    const names = readdirSync(dirname(file));
    assert.equal(names.length, 6);
    assert.ok(names.includes(basename(file)) && names.includes("README"));
  });
});

describe("the folder of the code cache", () => {
  const cases: readonly (readonly [what: string, env: (home: string) => NodeJS.ProcessEnv, place: string | null])[] = [
    ["in the home folder", (home) => ({ HOME: home }), "HOME/.cache/rolecall"],
    ["in XDG_CACHE_HOME", (home) => ({ HOME: home, XDG_CACHE_HOME: "/var/tmp/c" }), "/var/tmp/c/rolecall"],
    ["not in a relative XDG_CACHE_HOME", (home) => ({ HOME: home, XDG_CACHE_HOME: "c" }), "HOME/.cache/rolecall"],
    ["in the first CACHE_DIRECTORY", (home) => ({ HOME: home, CACHE_DIRECTORY: "/v/a:/v/b" }), "/v/a/rolecall"],
    [
      "in NODE_COMPILE_CACHE before all",
      () => ({ NODE_COMPILE_CACHE: "/n", CACHE_DIRECTORY: "/v/a", XDG_CACHE_HOME: "/x" }),
      "/n/rolecall",
    ],
    [
      "not in a relative NODE_COMPILE_CACHE, but in the CACHE_DIRECTORY after it",
      (home) => ({ HOME: home, NODE_COMPILE_CACHE: "n", CACHE_DIRECTORY: "/v/a" }),
      "/v/a/rolecall",
    ],
    [
      "in the home folder if all others are relative or empty",
      (home) => ({ HOME: home, NODE_COMPILE_CACHE: "", CACHE_DIRECTORY: "v", XDG_CACHE_HOME: "./x" }),
      "HOME/.cache/rolecall",
    ],
    ["nowhere without a home", () => ({}), null],
    ["nowhere if the home does not exist", (home) => ({ HOME: `${home}/none` }), null],
    ["nowhere if the home cannot be read", () => ({ HOME: "/dev/null/home" }), null],
    ["nowhere with NODE_DISABLE_COMPILE_CACHE", (home) => ({ HOME: home, NODE_DISABLE_COMPILE_CACHE: "1" }), null],
  ];
  for (const [what, env, place] of cases)
    test(`is ${what}`, (context) => {
      const home = folder(context);
      assert.equal(codeCacheFolder(env(home)), place?.replace("HOME", home) ?? null);
    });

  test("is not in the home of another user", { skip: isRoot ? false : "not run: needs root" }, (context) => {
    const home = folder(context);
    chownSync(home, 12345, 12345);
    assert.equal(codeCacheFolder({ HOME: home }), null);
  });
});
