import { exporterSenderFields, receiverFields, senderFields } from "../../../core/cluster/evidence/evidence-fields.ts";
import {
  rowsOf,
  type FieldsOf,
  type FormName,
  type FormTypes,
  type SomeFields,
} from "../../../core/cluster/evidence/fields.ts";
import { impliedSender, impliedStream, type IncidentForm } from "../../../core/cluster/incident/written-fields.ts";
import { unreadableFields } from "../../../core/cluster/documents/report.ts";
import { failureKinds, type Failure } from "../../../core/cluster/values/failure.ts";
import { parseTags } from "../../../core/cluster/values/tags.ts";
import { Reading, type Repetition } from "./reading.ts";

/** Reads a value. A method, so that the table of all is also one of functions of any value: rows have the form of their type. */
type Read<T> = { read(reading: Reading, implied: T, repetition: Repetition): T }["read"];

/** How a value of each form is read from an incident file: the other half of `written-fields.ts`. */
const readForms: { readonly [F in IncidentForm]: Read<FormTypes[F]> } = {
  text: (reading) => reading.reported(),
  textOrNull: (reading) => reading.statement(null),
  flag: (reading) => reading.flag(false),
  opposite: (reading) => !reading.flag(false),
  flagOrNull: (reading) => (reading.isNull ? null : reading.flag(false)),
  count: (reading) => reading.count(0),
  countOrNull: (reading) => (reading.isNull ? null : reading.count(0)),
  figureOrNull: (reading) => reading.figure(),
  timeOrNull: (reading) => reading.count(0) || null,
  position: (reading, implied, repetition) => reading.position(repetition) ?? implied,
  seconds: (reading) => reading.seconds(),
  end: (reading) => reading.instant(),
  tags: (reading) => parseTags(reading.raw()),
  senders: (reading, _, repetition) =>
    reading
      .list()
      .map((sender) =>
        readFields(senderFields, ofStandby(senderFields, sender), { implied: impliedSender, repetition }),
      ),
  unreadable: (reading) => reading.list().map((field) => field.oneOf(unreadableFields)),
  family: (reading) => reading.oneOf(["pg_exporter", "postgres_exporter"]),
  exporterSenders: (reading, _, repetition) =>
    reading.list().map((sender) =>
      readFields(exporterSenderFields, ofStandby(exporterSenderFields, sender), {
        implied: impliedStream,
        repetition,
      }),
    ),
  receiver: (reading, _, repetition) =>
    readFields(receiverFields, reading.mapping(incidentKeys(receiverFields)), { implied: impliedStream, repetition }),
};
const readAs: { readonly [F in FormName]?: Read<unknown> } = readForms;

/** The values of a standby by key. Of one that streams the name may stand alone. */
function ofStandby(fields: SomeFields, sender: Reading): (key: string) => Reading {
  if (!sender.isText) return sender.mapping(incidentKeys(fields));
  return (key) => (key === "name" ? sender : new Reading(undefined, key));
}

/** Why a request failed. */
export function readFailure(reading: Reading): Failure {
  const kind = reading.oneOf(failureKinds);
  return { kind, detail: kind };
}

/** The keys that an incident file has for fields, in their order. */
export function incidentKeys(fields: SomeFields): readonly string[] {
  return rowsOf(fields).flatMap(({ key }) => key ?? []);
}

/** What a file implies where it says nothing, and which repetition of a step is read. */
interface Implied<R> {
  readonly implied: Partial<R>;
  readonly repetition: Repetition;
}

/**
 * Reads fields. One that is absent is as implied, or what the others say.
 * @param value the values by key
 * @throws Error that names the place of a value that is not valid, or absent and not implied
 */
export function readFields<R extends object>(
  fields: FieldsOf<R>,
  value: (key: string) => Reading,
  context: Implied<R>,
): R;
// What the forms of a type's fields read is the type: the rows are checked to be of it.
export function readFields(
  fields: SomeFields,
  value: (key: string) => Reading,
  { implied, repetition }: Implied<{ readonly [key: string]: unknown }>,
): object {
  const read: Record<string, unknown> = {};
  const rows = rowsOf(fields);
  for (const { name, form, key, absent, follows } of rows) {
    const { [name]: otherwise = absent } = implied;
    const reading = key === null ? null : value(key);
    const readForm = readAs[form];
    const isStated = reading !== null && (!reading.isAbsent || (otherwise === undefined && follows === undefined));
    if (isStated && readForm !== undefined) read[name] = readForm(reading, otherwise, repetition);
    else if (otherwise !== undefined && follows === undefined) read[name] = otherwise;
  }
  for (const { name, follows } of rows) if (follows !== undefined && !(name in read)) read[name] = follows(read);
  return read;
}
