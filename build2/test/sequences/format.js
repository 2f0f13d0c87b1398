import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
const folder = join("test", "spec", "sequences");
export function readSequences() {
    return readdirSync(folder)
        .filter((file) => file.endsWith(".yaml"))
        .sort()
        .flatMap((file) => parse(readFileSync(join(folder, file), "utf8"), { merge: true }))
        .flatMap(inPhases);
}
function inPhases(sequence) {
    const { phases = [0] } = sequence;
    return phases.map((phase) => ({
        ...sequence,
        name: phase === 0 ? sequence.name : `${sequence.name}-${Math.round(phase * 1000)}`,
        title: phase === 0 ? sequence.title : `${sequence.title} (${phase} s later)`,
        lasts: sequence.lasts + phase,
        steps: sequence.steps.map((step) => ({ ...step, at: step.at + phase })),
        expect: sequence.expect.map((expectation) => ({
            ...expectation,
            from: expectation.from === 0 ? 0 : expectation.from + phase,
            ...(expectation.to === undefined ? {} : { to: expectation.to + phase }),
        })),
    }));
}
//# sourceMappingURL=format.js.map