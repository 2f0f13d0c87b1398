/**
 * @param reason why a node is unfit
 * @returns the section of the page on reasons, relative to the package: `docs/reasons.md#lagging`
 */
export function reasonLink(reason) {
    return `docs/reasons.md#${reason}`;
}
//# sourceMappingURL=reason-link.js.map