import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join, normalize } from "node:path";
import { describe, test } from "node:test";
import { developerDocuments, readMarkdown, userDocuments } from "./markdown.js";
describe("links of the documents", () => {
    for (const { file, links, anchors } of [...userDocuments(), ...developerDocuments()]) {
        test(`${file}: every link leads to a file and a heading that exist`, () => {
            const broken = links.filter(({ text }) => {
                if (text.includes("://"))
                    return false;
                const [path = "", anchor] = text.split("#");
                const target = path === "" ? file : normalize(join(file, "..", path));
                if (!existsSync(target))
                    return true;
                if (anchor === undefined)
                    return false;
                return !(path === "" ? anchors : readMarkdown(target).anchors).has(anchor);
            });
            assert.deepEqual(broken, []);
        });
    }
    test("docs/README.md lists every page of docs", () => {
        const listed = new Set(readMarkdown("docs/README.md").links.map(({ text }) => text.replace(/#.*/, "")));
        const pages = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md");
        assert.deepEqual(pages.filter((name) => !listed.has(name)), []);
    });
});
//# sourceMappingURL=links.test.js.map