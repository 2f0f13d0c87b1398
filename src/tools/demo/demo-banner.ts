/** The base URLs that a banner lists; `null` where there is none. */
export interface BannerAddresses {
  readonly health: string | null;
  readonly admin: string | null;
  readonly control: string;
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
}

/** One thing to try: what will be seen, and the commands that show it. */
export interface TourStep {
  readonly text: readonly string[];
  readonly commands: readonly string[];
}

/** What the banner says besides the tour. */
export interface BannerTexts {
  readonly title: string;
  /** A command that makes `rolecall` work in another shell; `null` if it works there. */
  readonly setup: string | null;
  /** What the log shows, and how to see more; `null` without a log. */
  readonly log: string | null;
}

/** The width that terminals have at least. */
const columns = 80;
/** The most nodes that are listed one a line. */
const listedMax = 9;

/** Renders what a demo prints: its addresses, and things to try. Lines of commands begin with two spaces. */
export function renderDemoBanner(addresses: BannerAddresses, steps: readonly TourStep[], texts: BannerTexts): string {
  return [
    "",
    texts.title,
    "",
    ...addressLines(addresses),
    ...(texts.setup === null ? [] : ["", "First, in the terminal where you try things:", `  ${texts.setup}`]),
    ...steps.flatMap(({ text, commands }) => ["", ...text, ...commands.flatMap(commandLines)]),
    "",
    ...(texts.log === null ? [] : [texts.log]),
    "Press Ctrl-C to stop.",
    "",
    "",
  ].join("\n");
}

/** A command, indented; one that is too long for a line goes on after a backslash, so that it can be pasted. */
function commandLines(command: string): readonly string[] {
  const line = `  ${command}`;
  const at = Math.max(line.lastIndexOf(" --", columns - 2), line.indexOf("; ") + 1);
  return line.length <= columns || at <= 0 ? [line] : [`${line.slice(0, at)} \\`, `    ${line.slice(at + 1)}`];
}

function addressLines({ health, admin, control, nodes }: BannerAddresses): readonly string[] {
  const shown = nodes.slice(0, listedMax);
  const more = nodes.length - shown.length;
  const rows: readonly (readonly [label: string, url: string, purpose: string])[] = [
    ...(health === null ? [] : [["health checks", health, ""] as const]),
    ...(admin === null ? [] : [["status", `${admin}/status`, "(metrics: /metrics)"] as const]),
    ["faults", control, "(lists every fault and its undo)"],
    ...shown.map(({ name, url }, index) => [`node ${name}`, url, index === 0 ? "(leads at the start)" : ""] as const),
  ];
  const urls = Math.max(...rows.map(([, url]) => url.length));
  const lines = rows.map(([label, url, purpose]) => `  ${label.padEnd(14)} ${url.padEnd(urls)} ${purpose}`.trimEnd());
  return more === 0 ? lines : [...lines, `  and ${String(more)} more nodes`];
}
