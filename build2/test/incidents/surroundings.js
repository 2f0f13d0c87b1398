/** The section's values by node. @throws Error that names a node missing from the file */
export function byNode(section, { nodes }) {
    section.mapping(nodes);
    return section.entries();
}
//# sourceMappingURL=surroundings.js.map