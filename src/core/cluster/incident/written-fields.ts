import { exporterSenderFields, receiverFields, senderFields } from "../evidence/evidence-fields.ts";
import {
  isSameValue,
  rowsOf,
  type FieldsOf,
  type FormName,
  type FormTypes,
  type Row,
  type SomeFields,
} from "../evidence/fields.ts";
import { formatLsn } from "../values/lsn.ts";
import { writtenTags } from "../values/tags.ts";
import {
  incidentDuration,
  type IncidentFormat,
  type IncidentMapping,
  type IncidentValue,
  laterFormat,
} from "./incident-yaml.ts";

/** What an incident file implies of a standby in a node's sender list. */
export const impliedSender = { state: "streaming" };
/** What it implies of a standby in an exporter's page, and of where a standby receives from. */
export const impliedStream = { isStreaming: true };

/** The forms that only JSON has. */
type JsonForm = "extent" | "mark" | "document" | "documentOrNull" | "disk";

/** The forms that values in incident files have. */
export type IncidentForm = Exclude<FormName, JsonForm>;

function asItIs(value: IncidentValue): IncidentValue {
  return value;
}

/** Writes a value. A method, so that the table of all is also one of functions of any value: rows have the form of their type. */
type Write<T> = { write(value: T): IncidentValue }["write"];

const writtenForms: { readonly [F in IncidentForm]: Write<FormTypes[F]> } = {
  text: asItIs,
  textOrNull: asItIs,
  flag: asItIs,
  opposite: (value) => !value,
  flagOrNull: asItIs,
  count: asItIs,
  countOrNull: asItIs,
  figureOrNull: asItIs,
  timeOrNull: asItIs,
  position: (bytes) => (bytes === null ? null : formatLsn(bytes)),
  seconds: (ms) => ms / 1_000,
  end: incidentDuration,
  tags: writtenTags,
  senders: (senders) => senders.map((sender) => shortened(writtenFields(senderFields, sender, impliedSender))),
  unreadable: asItIs,
  family: asItIs,
  exporterSenders: (senders) =>
    senders.map((sender) => shortened(writtenFields(exporterSenderFields, sender, impliedStream))),
  receiver: (receiver) => (receiver === null ? null : writtenFields(receiverFields, receiver, impliedStream)),
};

const writtenAs: { readonly [F in FormName]?: Write<unknown> } = writtenForms;

/** A standby of which nothing but its name is written is written as that. */
function shortened(written: IncidentMapping): IncidentValue {
  const { name = "", ...others } = written;
  return name === "" || Object.keys(others).length > 0 ? written : name;
}

/**
 * Writes the fields that an incident file has and that differ from what it implies: a short file shows better what was
 * wrong. What could not be read is `null`.
 */
export function writtenFields<R extends object>(fields: FieldsOf<R>, value: R, implied: Partial<R>): IncidentMapping;
export function writtenFields(fields: SomeFields, value: AnyFields, implied: AnyFields): IncidentMapping {
  const written: Record<string, IncidentValue> = {};
  for (const row of rowsOf(fields)) {
    const write = writtenAs[row.form];
    const own = value[row.name];
    if (row.key === null || write === undefined || isImplied(row, value, implied)) continue;
    written[row.key] = own === undefined ? null : write(own);
  }
  return written;
}

/** The first format in which a field can say that it could not be read. */
const unreadableSince: IncidentFormat = 2;

/** The format that a file with these fields has. */
export function formatOfFields<R extends object>(fields: FieldsOf<R>, value: R, implied: Partial<R>): IncidentFormat;
export function formatOfFields(fields: SomeFields, value: AnyFields, implied: AnyFields): IncidentFormat {
  let format: IncidentFormat = 1;
  for (const row of rowsOf(fields)) {
    if (row.key === null || isImplied(row, value, implied)) continue;
    format = laterFormat(format, row.format);
    if (value[row.name] === undefined) format = laterFormat(format, unreadableSince);
  }
  return format;
}

type AnyFields = Readonly<Record<string, unknown>>;

/** What could not be read is nothing that a file implies. */
function isImplied({ name, absent, follows }: Row, value: AnyFields, { [name]: implied = absent }: AnyFields): boolean {
  const own = value[name];
  return own !== undefined && isSameValue(own, follows === undefined ? implied : follows(value));
}
