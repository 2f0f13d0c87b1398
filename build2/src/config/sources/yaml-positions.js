import { isAlias, isMap, isSeq } from "yaml";
import { keyText, offsetOf } from "./yaml-survey.js";
/**
 * Returns where the value at a path is in the text: the position of its key. If the path does not exist, that of the
 * innermost value on the way.
 */
export function offsetAt(path, { contents }, { targets }) {
    let current = contents;
    let offset = offsetOf(current) ?? 0;
    for (const step of path) {
        if (isAlias(current))
            current = targets.get(current);
        if (isMap(current)) {
            // The last pair counts, as in the parsed value.
            const pair = current.items.findLast(({ key }) => keyText(key) === String(step));
            if (pair === undefined)
                break;
            offset = offsetOf(pair.key) ?? offset;
            current = pair.value;
        }
        else if (isSeq(current) && typeof step === "number") {
            current = current.items[step];
            offset = offsetOf(current) ?? offset;
        }
        else
            break;
    }
    return offset;
}
//# sourceMappingURL=yaml-positions.js.map