/**
 * Whether the node password is withheld from a node: a member list gives it an http address although the cluster has
 * TLS. Otherwise anybody who can add a member to a list would receive the password in clear text.
 */
export function withholdsPassword({ api }, { clearPasswordFor }) {
    return clearPasswordFor !== undefined && api?.startsWith("http:") === true && !clearPasswordFor.includes(api);
}
//# sourceMappingURL=node-password.js.map