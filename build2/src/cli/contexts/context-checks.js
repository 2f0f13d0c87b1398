import { isMapping, valueIssue } from "../../config/model/issue.js";
/** Keys that people try for a secret itself, each with the key for the file that may hold it. */
const inlineSecrets = new Map([
    ["token", "token_file"],
    ["password", "password_file"],
    ["secret", "token_file"],
]);
/** Says of an unknown key that holds a secret where the secret belongs. */
export function inlineSecretIssue(issue) {
    const instead = issue.isKey ? inlineSecrets.get(String(issue.path.at(-1))) : undefined;
    if (instead === undefined)
        return issue;
    return { ...issue, message: `must not be in this file: write the secret to a file of its own and set ${instead}` };
}
/** Returns the issues of keys that contradict each other or need each other, and of names that cannot be used. */
export function contextIssues(value) {
    const contexts = isMapping(value) && isMapping(value["contexts"]) ? Object.entries(value["contexts"]) : [];
    return contexts.flatMap(([name, context]) => [
        ...nameIssues(name),
        ...(isMapping(context) ? keyIssues(["contexts", name], context) : []),
    ]);
}
function nameIssues(name) {
    if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name))
        return [];
    const allowed = "a name of letters, digits and _ . - (at most 64, the first one a letter or digit)";
    return [{ ...valueIssue(["contexts", name], name, allowed), isKey: true }];
}
function keyIssues(path, context) {
    const has = (key) => context[key] !== undefined && context[key] !== null;
    const issues = [];
    const refuse = (key, message) => void issues.push({ ...valueIssue([...path, key], context[key], ""), message });
    const methods = ["token_file", "user_file", "user"].filter(has);
    const [first, second] = methods;
    if (second !== undefined)
        refuse(second, `cannot be used with ${first}: a context has one credential`);
    if (has("user") && !has("password_file"))
        refuse("user", "needs password_file, the file with the password");
    if (has("password_file") && !has("user"))
        refuse("password_file", "needs user, the name that the password is for");
    if (has("cert") && !has("key"))
        refuse("cert", "needs key, the file with the private key");
    if (has("key") && !has("cert"))
        refuse("key", "needs cert, the file with the certificate");
    const { server, tls } = context;
    if (typeof server === "string" && tls === true && /^http:/i.test(server))
        refuse("tls", "contradicts server, which is http: write https:// or leave the scheme out");
    if (typeof server === "string" && tls === false && /^https:/i.test(server))
        refuse("tls", "contradicts server, which is https");
    return issues;
}
//# sourceMappingURL=context-checks.js.map