/** Which version of Patroni a file of scenarios needs, and what happens if it is not available. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { missingProgram, patroni3, patroni4 } from "./versions.js";
/**
 * Runs scenarios with one version of Patroni. If it is not available they are skipped with the reason; but in CI
 * 3.0.2 is required.
 * @param scenarios declares hooks and tests, as the body of a `describe`
 * @param minutes how long they may take together
 */
export function beside(version, title, scenarios, minutes = 5) {
    const missing = missingProgram();
    const found = missing === undefined ? (version === "3.0.2" ? patroni3() : patroni4()) : { notRun: `${missing} is missing` };
    if ("command" in found)
        describe(`${title}, Patroni ${version}`, { timeout: minutes * 60_000 }, () => scenarios(found.command));
    else if (version === "3.0.2" && process.env["CI"] !== undefined)
        test(title, () => assert.fail(`required in CI: ${found.notRun}`));
    else
        test(`${title}, Patroni ${version}`, { skip: `not run: ${found.notRun}` }, () => { });
}
//# sourceMappingURL=beside.js.map