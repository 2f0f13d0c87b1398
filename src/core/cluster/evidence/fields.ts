import type { UnreadableField, Sender } from "../documents/report.ts";
import type { DrainExtent } from "../drain.ts";
import type { DiskFigures, ExporterPage, ExporterReceiver, ExporterSender } from "../exporter/exporter-report.ts";
import type { Tags } from "../values/tags.ts";

/**
 * The forms of fields, with their types. Each encoding says once what it does with each form: the lines of the history
 * and the feed which values they accept, incident files how a value is written and read.
 */
export interface FormTypes {
  readonly text: string;
  readonly textOrNull: string | null;
  readonly flag: boolean;
  /** In incident files the opposite stands. */
  readonly opposite: boolean;
  readonly flagOrNull: boolean | null;
  readonly count: number;
  readonly countOrNull: number | null;
  readonly figureOrNull: number | null;
  /** A time in seconds since the epoch; 0 is none. */
  readonly timeOrNull: number | null;
  /** A position in bytes of WAL, in incident files `X/X`. */
  readonly position: number | null;
  /** In ms, in incident files in seconds. */
  readonly seconds: number;
  /** An instant to come, in ms of rolecall's clock, in incident files a span from the step on. */
  readonly end: number;
  readonly extent: DrainExtent;
  readonly mark: true;
  readonly tags: Tags;
  readonly senders: readonly Sender[];
  readonly unreadable: readonly UnreadableField[];
  /** The text of a node's status document. */
  readonly document: string;
  readonly documentOrNull: string | null;
  readonly family: ExporterPage["family"];
  readonly exporterSenders: readonly ExporterSender[];
  readonly receiver: ExporterReceiver | null;
  readonly disk: DiskFigures;
}

/** The name of a form. */
export type FormName = keyof FormTypes;

/** The forms of exactly this type. */
type FormOf<T> = {
  [F in FormName]: [FormTypes[F], T] extends [T, FormTypes[F]] ? F : never;
}[FormName];

/**
 * One field: its form, and since which version each encoding has it, 1 if from the beginning. What has it since version
 * 2 is absent in what an earlier version has written. `false`: the encoding leaves it out.
 */
export interface Field<T, R = object> {
  readonly form: FormOf<T>;
  /** The lines of the history on disk. They have no number: a reader passes over fields that it does not know. */
  readonly history: Since | false;
  /** The feed from an instance to its followers. They pass over fields that they do not know. */
  readonly feed: Since | false;
  /**
   * Its key in an incident file, and the format of files that have it. The live page replays incident files: it has what
   * they have. Readers refuse keys and formats that they do not know.
   */
  readonly incident: readonly [key: string, format: Since] | false;
  /** What is meant where it is not written; without that, it must be written. Incident files imply what they say. */
  readonly absent?: T;
  /** What it is in most cases, by the other fields: then it is not written. */
  follows?(others: R): T;
}

/** The version of an encoding that has a field first. */
export type Since = 1 | 2;

/** Fields, of whatever type. */
export interface SomeFields {
  readonly [key: string]: Omit<Field<unknown>, "form"> & { readonly form: FormName };
}

/** The fields of a type: each exactly once. */
export type FieldsOf<R> = { readonly [P in keyof R]-?: Field<Required<R>[P], R> };

/** The values of the fields where they are not written. */
export type Absent<F> = { readonly [P in AbsentKey<F>]: AbsentOf<F[P]> };

type AbsentKey<F> = { [P in keyof F]: F[P] extends { readonly absent: unknown } ? P : never }[keyof F];
type AbsentOf<F> = F extends { readonly form: infer Name extends FormName } ? FormTypes[Name] : never;

/** A row with its name, for those who read or write all fields of a type: all of one shape, which is fast. */
export interface Row extends Pick<SomeFields[string], "form" | "history" | "feed"> {
  readonly name: string;
  /** Its key in incident files; `null`: it has none. */
  readonly key: string | null;
  readonly format: Since;
  readonly absent: unknown;
  readonly follows: Follow | undefined;
}

/** A method, so that what follows from the fields of one type is also something that follows from any. */
type Follow = { follow(others: unknown): unknown }["follow"];

const rowsOfTables = new WeakMap<object, readonly Row[]>();

/** Returns the rows of a table, in their order. */
export function rowsOf(fields: SomeFields): readonly Row[] {
  const known = rowsOfTables.get(fields);
  if (known !== undefined) return known;
  const rows = Object.entries(fields).map(([name, field]): Row => {
    const [key, format] = field.incident === false ? [null, 1 as const] : field.incident;
    return { name, key, format, absent: undefined, follows: undefined, ...field };
  });
  rowsOfTables.set(fields, rows);
  return rows;
}

/** Returns what is meant where nothing is written. */
export function absentOf<F extends object>(fields: F): Absent<F> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]: readonly [string, Pick<Field<never>, "absent">]): unknown[][] =>
      field.absent === undefined ? [] : [[key, field.absent]],
    ),
  );
}

/**
 * Returns defaults with what is stated in their place. V8 takes fifty times as long for members that follow a spread of so
 * many.
 */
export function withDefaults<D extends object, const S extends object>(defaults: D, stated: S): D & S {
  return Object.assign({}, defaults, stated);
}

/** Whether a value need not be written: lists and maps are equal where both are empty. */
export function isSameValue(value: unknown, implied: unknown): boolean {
  return value === implied || (typeof value === "object" && value !== null && isEmpty(value) && isEmpty(implied));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : value instanceof Map && value.size === 0;
}
