import * as z from "zod";
import { duration, flag, plainText } from "../../config/schema/value-schemas.js";
import { parseServerAddress } from "./server-address.js";
const file = () => plainText("the name of a file", 4096);
const serverAllowed = "the address of a listener, such as https://rolecall.example:8008 or 10.0.0.1:8008";
const userAllowed = "the name of a user, without a colon";
const contextFields = {
    server: z
        .string({ error: serverAllowed })
        .refine((text) => parseServerAddress(text, false) !== null, { error: serverAllowed }),
    tls: flag().optional(),
    token_file: file().optional(),
    user_file: file().optional(),
    user: z
        .string({ error: userAllowed })
        .regex(/^[^:\p{Cc}]{1,128}$/u, { error: userAllowed })
        .optional(),
    password_file: file().optional(),
    ca: file().optional(),
    cert: file().optional(),
    key: file().optional(),
    insecure: flag().optional(),
    timeout: duration("1ms", "1h").optional(),
};
const contextSchema = z.strictObject(contextFields, {
    error: "a mapping with the key server",
});
const fileFields = {
    current: z.string({ error: "the name of a context" }).nullable().default(null),
    contexts: z.record(z.string(), contextSchema, { error: "a mapping from names to contexts" }).nullable().default(null),
};
/** The schema of `contexts.yaml`: each value is checked on its own. */
export const contextsSchema = z.strictObject(fileFields, {
    error: "a mapping with the keys current and contexts",
});
/** Returns the keys allowed at a path of the file. */
export function contextKeysAt(path) {
    if (path.length === 0)
        return Object.keys(fileFields);
    return path.length === 2 && path[0] === "contexts" ? Object.keys(contextFields) : [];
}
//# sourceMappingURL=context-schema.js.map