import { type Document, isAlias, isMap, isSeq, type Pair } from "yaml";
import type { ConfigPath } from "../model/issue.ts";
import { keyText, offsetOf, type YamlSurvey } from "./yaml-survey.ts";

/**
 * Returns where the value at a path is in the text: the position of its key. If the path does not exist, that of the
 * innermost value on the way.
 */
export function offsetAt(path: ConfigPath, { contents }: Document, { targets }: YamlSurvey): number {
  let current: unknown = contents;
  let offset = offsetOf(current) ?? 0;
  for (const step of path) {
    if (isAlias(current)) current = targets.get(current);
    if (isMap(current)) {
      // The last pair counts, as in the parsed value.
      const pair: Pair | undefined = current.items.findLast(({ key }) => keyText(key) === String(step));
      if (pair === undefined) break;
      offset = offsetOf(pair.key) ?? offset;
      current = pair.value;
    } else if (isSeq(current) && typeof step === "number") {
      current = current.items[step];
      offset = offsetOf(current) ?? offset;
    } else break;
  }
  return offset;
}
