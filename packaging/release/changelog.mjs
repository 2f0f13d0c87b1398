/** The changelog of a release: its section, and the notes of its tag. */

const unreleased = "## Unreleased\n";

/**
 * Gives the section "Unreleased" the heading of a version. An empty section "Unreleased" stays above it.
 * @param {string} changelog the text of CHANGELOG.md
 * @param {{ version: string, date: string, isDryRun?: boolean }} release its version and its day, such as 2026-12-01;
 *   a dry run needs no entries, because there are none right after a release
 * @returns {{ text: string, notes: string }} the new text, and the entries of the version
 * @throws if there are no entries, or if the version has a section
 */
export function releaseSection(changelog, { version, date, isDryRun = false }) {
  if (changelog.split("\n").some((line) => line === `## ${version}` || line.startsWith(`## ${version},`)))
    throw new Error(`Cannot release: CHANGELOG.md has a section of this version: it must have none of ${version}`);
  const start = `\n${changelog}`.indexOf(`\n${unreleased}`);
  if (start === -1) throw new Error('Cannot release: CHANGELOG.md must have a section "Unreleased", got none');
  const [before, after] = [changelog.slice(0, start), changelog.slice(start + unreleased.length)];
  const [section] = after.split(/^## /m, 1);
  if (!isDryRun && !/^\* /m.test(section))
    throw new Error('Cannot release: the section "Unreleased" of CHANGELOG.md must have entries, got none');
  return { text: `${before}${unreleased}\n## ${version}, ${date}\n${after}`, notes: section.trim() };
}
