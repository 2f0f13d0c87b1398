import { spawnSync } from "node:child_process";
import { median, show } from "../statistics.js";
import { pinned } from "../machine.js";
import { program } from "../rolecall.js";
const times = 15;
/** How long a short command takes as a process, from its start to its end, beside what node alone takes. */
export const coldStart = {
    name: "cold",
    run() {
        const [bare, version] = [[], []];
        for (let round = 0; round < times; round += 1) {
            bare.push(took(["-e", "0"]));
            version.push(took([program, "version"]));
        }
        const [alone, ours] = [median(bare), median(version)];
        const detail = `${show(ours)} against ${show(alone)} ms, medians of ${times} in turn`;
        return Promise.resolve([
            { name: "ms of `rolecall version` as a process", figure: ours, bound: { atMost: 150 }, detail },
            { name: "`rolecall version` as a process, times `node -e 0`", figure: ours / alone, bound: null, detail },
        ]);
    },
};
/** The time of running node with these arguments, to its end, in ms. */
function took(args) {
    const [command = "", ...rest] = pinned("measured", [process.execPath, ...args]);
    const beganMs = performance.now();
    const { status } = spawnSync(command, rest, { stdio: "ignore", timeout: 10_000 });
    const tookMs = performance.now() - beganMs;
    if (status !== 0)
        throw new Error(`Cannot measure node ${args.join(" ")} as it must end with 0: it ended with ${status}`);
    return tookMs;
}
//# sourceMappingURL=cold.js.map