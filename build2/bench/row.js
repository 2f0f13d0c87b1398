import { pause } from "./rolecall.js";
import { ChildProgram } from "./child-program.js";
/** Measures the rows of one maker. An error makes a broken row. Every program that it started is stopped. */
export async function rowsOf(maker, rounds) {
    try {
        return await maker.run(rounds);
    }
    catch (error) {
        return [{ name: maker.name, broken: error instanceof Error ? error.message : String(error) }];
    }
    finally {
        await ChildProgram.stopAll();
    }
}
/** Measures all sides in turn, so that other work on the machine affects each of them. */
export async function interleave(rounds, sides) {
    const results = sides.map(() => []);
    for (let round = 0; round < rounds.count; round += 1) {
        for (const [at, side] of sides.entries()) {
            results[at]?.push(await side(rounds.seconds));
            await pause(rounds.settleMs);
        }
    }
    return results;
}
//# sourceMappingURL=row.js.map