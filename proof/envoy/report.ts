/** The results as Markdown tables. Pure. */
import type { ChangeKind, ChangeResult } from "./change.ts";
import type { Measured } from "./measure.ts";
import type { OwnFaultResult } from "./own-fault.ts";

/** A change of the primary, or a fault of rolecall itself. */
export type Result = ({ readonly of: "change" } & ChangeResult) | ({ readonly of: "own fault" } & OwnFaultResult);

/** One table of the changes and one of the faults of rolecall, with a row for each balancer. */
export function reportOf(results: readonly Result[]): string {
  const changes = results.filter((result) => result.of === "change");
  const faults = results.filter((result) => result.of === "own fault");
  const titles = [...new Set(results.flatMap(({ balancers }) => balancers.map(({ title }) => title)))];
  return [
    table(
      changeHead,
      titles.map((title) => changeRow(title, changes)),
    ),
    `rolecall's yes came ${inMs(changes.map(({ yesMs }) => yesMs))} after the promotion. The measuring process stood still for ${inMs(changes.map(({ stallMs }) => stallMs))}.`,
    table(
      ["balancer", ...faultColumns(faults)],
      titles.map((title) => [title, ...faultColumns(faults).map((column) => faultCell(title, column, faults))]),
    ),
  ].join("\n\n");
}

const changeHead =
  "balancer,switchovers,route,first write,kills,route,first write,old primary lives,old sessions gone,left,late writes,went back".split(
    ",",
  );

function changeRow(title: string, changes: readonly ChangeResult[]): readonly string[] {
  const of = (kind: ChangeKind): readonly Measured[] =>
    changes
      .filter((change) => change.kind === kind)
      .flatMap(({ balancers }) => balancers.filter((one) => one.title === title));
  const [switchovers, kills, alive] = [of("switchover"), of("kill"), of("alive")];
  const first = (rounds: readonly Measured[]): readonly string[] => [
    inMs(rounds.flatMap(({ routedMs }) => routedMs ?? [])),
    inMs(rounds.flatMap(({ firstWriteMs }) => firstWriteMs ?? [])),
  ];
  const sum = (rounds: readonly Measured[], count: (one: Measured) => number): string =>
    String(rounds.reduce((total, one) => total + count(one), 0));
  return [
    title,
    String(switchovers.length),
    ...first(switchovers),
    String(kills.length),
    ...first(kills),
    String(alive.length),
    inMs(alive.flatMap(({ cutMs }) => cutMs ?? [])),
    `${sum(alive, ({ left }) => left)} of ${sum(alive, ({ sessions }) => sessions)}`,
    sum(alive, ({ lateWrites }) => lateWrites),
    sum([...switchovers, ...kills, ...alive], ({ wentBack }) => wentBack),
  ];
}

function faultColumns(faults: readonly OwnFaultResult[]): readonly string[] {
  return [...new Set(faults.map(columnOf))].toSorted();
}

function columnOf({ kind, instances, awayMs }: OwnFaultResult): string {
  return `${instances} rolecall${instances === 1 ? "" : "s"}, ${kind}${awayMs === 0 ? "" : ` ${awayMs / 1_000} s`}`;
}

/** Such as `10: 0, 0 of 4,812`: ten faults, no session cut, and none of so many new connections refused. */
function faultCell(title: string, column: string, faults: readonly OwnFaultResult[]): string {
  const rounds = faults
    .filter((fault) => columnOf(fault) === column)
    .flatMap(({ balancers }) => balancers.filter((one) => one.title === title));
  const sum = (count: (one: (typeof rounds)[number]) => number): number =>
    rounds.reduce((total, one) => total + count(one), 0);
  const opened = sum((one) => one.opened).toLocaleString("en");
  return `${rounds.length}: ${sum(({ cut }) => cut)}, ${sum(({ refused }) => refused)} of ${opened}`;
}

/** The median and the greatest, such as `21, at most 64 ms`. */
function inMs(values: readonly number[]): string {
  if (values.length === 0) return "";
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return `${Math.round(((low ?? 0) + (high ?? 0)) / 2)}, at most ${Math.round(sorted.at(-1) ?? 0)} ms`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ["---", ...head.slice(1).map(() => "--:")], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
