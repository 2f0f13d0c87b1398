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
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { codeCacheFolder, readCodeCache, writeCodeCache } from "../../src/program/code-cache.ts";

const source = "(function () {})";
const data = Buffer.from("compiled code");
const isRoot = process.geteuid?.() === 0;

function folder(context: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "rolecall-code-cache-"));
  context.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A cache that is written. */
function written(context: TestContext): string {
  const file = join(folder(context), "rolecall", "serve.cache");
  writeCodeCache(file, source, data);
  return file;
}

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
    assert.deepEqual(readdirSync(dirname(file)), ["serve.cache"]);
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
