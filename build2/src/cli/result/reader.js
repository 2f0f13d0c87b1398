import * as z from "zod";
import { isObject } from "../../cluster/values/json.js";
import { resultSchema } from "./schema.js";
import { errorMessage } from "./error-message.js";
const violationsMax = 100;
let validator = null;
/**
 * Reads a `cli.result/v1` document of this or another tool. Accepts unknown fields in every object.
 * @param text one JSON document
 */
export function readResult(text) {
    let value;
    try {
        value = JSON.parse(text.replace(/^\uFEFF/, ""));
    }
    catch (error) {
        return {
            ok: false,
            violations: [{ pointer: "", message: `must be JSON: ${errorMessage(error)}` }],
        };
    }
    if (isResult(value))
        return { ok: true, result: value };
    return { ok: false, violations: violationsOf(value) };
}
/** Whether a value conforms to the schema that `rolecall schema result` prints. */
export function isResult(value) {
    return schema().safeParse(value).success;
}
function violationsOf(value) {
    if (!isObject(value))
        return [{ pointer: "", message: "must be one JSON object" }];
    const issues = schema().safeParse(value).error?.issues ?? [];
    return issues
        .slice(0, violationsMax)
        .map(({ path, message }) => ({ pointer: path.map((step) => `/${escaped(String(step))}`).join(""), message }));
}
function schema() {
    validator ??= z.fromJSONSchema(structuredClone(resultSchema));
    return validator;
}
function escaped(step) {
    return step.replaceAll("~", "~0").replaceAll("/", "~1");
}
//# sourceMappingURL=reader.js.map