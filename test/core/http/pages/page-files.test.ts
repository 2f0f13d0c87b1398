import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { PageFiles } from "../../../../src/core/http/pages/page-files.ts";
import { readPageFile } from "../../../../src/core/program/program-files.ts";

/** The files that a module of the page imports when it is loaded. */
function importedBy(name: string, text: string): readonly string[] {
  const targets = text.matchAll(/\b(?:import|export)\b[^;"]*?from\s*"([^"]+)"/g);
  return [...targets].map(([, target = ""]) => new URL(target, `http://page/${name}`).pathname.slice(1));
}

test("all files of the page, libraries included, have less than 202 KB compressed", async () => {
  const files = await new PageFiles(readPageFile).all();
  const bytes = [...files.values()].reduce((sum, { gzipped }) => sum + gzipped.length, 0);
  assert.ok(files.size > 10);
  assert.ok(bytes < 202 * 1024, `${bytes} bytes`);
});

test("a compressed file holds what the plain one holds", async () => {
  for (const { plain, gzipped } of (await new PageFiles(readPageFile).all()).values())
    assert.deepEqual(gunzipSync(gzipped), plain);
});

test("every file that a file of the page names exists, and none is of another host", async () => {
  const files = await new PageFiles(readPageFile).all();
  for (const [name, { plain }] of files) {
    const text = plain.toString();
    for (const target of importedBy(name, text)) assert.ok(files.has(target), `${name} imports ${target}`);
    for (const [, target = ""] of text.matchAll(/\bimport\("([^"]+)"\)/g))
      assert.ok(files.has(new URL(target, `http://page/${name}`).pathname.slice(1)), `${name} loads ${target}`);
    for (const [, target = ""] of text.matchAll(/(?:src=|href=|useDocument\()"page\/([^"]+)"/g))
      assert.ok(files.has(target), `${name} names ${target}`);
    // The bundle of the judgement makes up addresses for the nodes of incidents; it has nothing to request them with.
    if (!name.startsWith("vendor/") && name !== "core.js")
      assert.doesNotMatch(text.replace("http://www.w3.org/2000/svg", ""), /https?:\/\//, name);
  }
});

test("the page names every module that its script imports, so that a browser requests all of them at once", async () => {
  const files = await new PageFiles(readPageFile).all();
  const textOf = (name: string): string => files.get(name)?.plain.toString() ?? "";
  const imported = new Set(["app.js"]);
  for (const name of imported) for (const target of importedBy(name, textOf(name))) imported.add(target);
  const preloaded = [...textOf("index.html").matchAll(/rel="modulepreload" href="page\/([^"]+)"/g)].map(
    ([, name]) => name,
  );
  assert.ok(imported.size > 20);
  assert.deepEqual(preloaded, [...imported].filter((name) => name !== "app.js").toSorted());
});

test("names the licence of each library", async () => {
  const text = (await new PageFiles(readPageFile).get("vendor/licenses.txt"))?.plain.toString() ?? "";
  for (const name of ["preact", "htm", "uplot", "yaml"])
    assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"));
});

test("files that cannot be read are tried again at the next request", async () => {
  let isThere = false;
  const files = new PageFiles((name) => (isThere ? readPageFile(name) : null));
  await assert.rejects(files.get("index.html"), /Cannot serve the live page: files\.json is missing/);
  isThere = true;
  assert.ok(await files.get("index.html"));
});
