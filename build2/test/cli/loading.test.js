import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
/** Everything that a file imports statically, transitively. Types and `import()` are not loaded. */
function loadedBy(file, loaded = new Set()) {
    if (loaded.has(file))
        return loaded;
    loaded.add(file);
    const text = readFileSync(file, "utf8").replace(/(^|\n)(import|export) type [^;]*;/g, "$1");
    for (const match of text.matchAll(/(?:^|\n)(?:import|export)\s[^;]*?from\s+"([^"]+)"/g)) {
        const name = match[1] ?? "";
        if (name.startsWith("."))
            loadedBy(join(dirname(file), name), loaded);
        else
            loaded.add(name);
    }
    return loaded;
}
test("every command line loads few files and no package before its command", () => {
    const loaded = [...loadedBy(join("src", "main.ts"))];
    assert.deepEqual(loaded.filter((name) => !name.startsWith("node:") && !name.startsWith("src")), []);
    assert.ok(loaded.length < 50, `${loaded.length} files: ${loaded.join(", ")}`);
});
//# sourceMappingURL=loading.test.js.map