import * as z from "zod";
import {
  isSameValue,
  rowsOf,
  type FieldsOf,
  type FormName,
  type FormTypes,
  type Row,
  type SomeFields,
} from "../cluster/evidence/fields.ts";
import { diskFields, exporterSenderFields, receiverFields, senderFields } from "../cluster/evidence/evidence-fields.ts";
import { unreadableFields } from "../cluster/documents/report.ts";
import { documentMax } from "../cluster/documents/document-sizes.ts";
import { drainExtents } from "../cluster/drain.ts";
import type { JsonObject } from "../cluster/values/json.ts";
import { parseTags, writtenTags } from "../cluster/values/tags.ts";

/** What of each form is accepted. */
export type FormSchemas = { readonly [F in FormName]: z.ZodType<FormTypes[F]> };

/** Names, addresses and reasons: longer than any of them. */
const text = z.string().max(1_024);
const number = z.number();
const numberOrNull = number.nullable();
const documentText = z.string().max(documentMax.report);

const plainForms = {
  text,
  textOrNull: text.nullable(),
  flag: z.boolean(),
  opposite: z.boolean(),
  flagOrNull: z.boolean().nullable(),
  count: number,
  countOrNull: numberOrNull,
  figureOrNull: numberOrNull,
  timeOrNull: numberOrNull,
  position: numberOrNull,
  seconds: number,
  end: number,
  extent: z.enum(drainExtents),
  mark: z.literal(true),
  tags: z.record(text, z.unknown()).transform((written) => parseTags(written)),
  unreadable: z.array(z.enum(unreadableFields)),
  document: documentText,
  documentOrNull: documentText.nullable(),
  family: z.enum(["pg_exporter", "postgres_exporter"]),
} as const satisfies Partial<FormSchemas>;

/** What the lines of the history accept. */
export const storedForms: FormSchemas = {
  ...plainForms,
  senders: z.array(schemaOfFields(senderFields, "history", plainForms)),
  exporterSenders: z.array(schemaOfFields(exporterSenderFields, "history", plainForms)),
  receiver: schemaOfFields(receiverFields, "history", plainForms).nullable(),
  disk: schemaOfFields(diskFields, "history", plainForms),
};

/** An encoding in JSON. */
type JsonEncoding = "history" | "feed";

/**
 * The schema of a type, as an encoding has it: unknown fields are passed over, absent ones are what the rows say.
 * @param forms what of each form is accepted, of those that the fields have
 */
export function schemaOfFields<R extends object>(
  fields: FieldsOf<R>,
  encoding: JsonEncoding,
  forms: Partial<FormSchemas>,
): z.ZodType<R>;
// What the schemas of the forms make of a type's fields is the type: the rows are checked to be of it.
export function schemaOfFields(
  fields: SomeFields,
  encoding: JsonEncoding,
  forms: { readonly [F in FormName]?: z.ZodType },
): z.ZodType<object> {
  const schema = z.object(shapeOfFields(fields, encoding, forms));
  const rows = rowsOf(fields);
  const unwritten = rows.filter((row) => row[encoding] === false && row.absent !== undefined);
  const following = rows.filter((row) => isFollowing(row, encoding));
  if (following.length === 0 && unwritten.length === 0) return schema;
  const added = Object.fromEntries(unwritten.map(({ name, absent }) => [name, absent]));
  return schema.transform((read) => {
    const whole: Record<string, unknown> = { ...read, ...added };
    for (const { name, follows } of following) whole[name] ??= follows?.(whole);
    return whole;
  });
}

/** The schemas of the fields that an encoding has. */
function shapeOfFields(
  fields: SomeFields,
  encoding: JsonEncoding,
  forms: { readonly [F in FormName]?: z.ZodType },
): { readonly [key: string]: z.ZodType } {
  const shape: Record<string, z.ZodType> = {};
  for (const row of rowsOf(fields)) {
    const schema = forms[row.form];
    if (row[encoding] === false || schema === undefined) continue;
    // An owner of the feed states all fields that its version knows.
    const isOptional = encoding === "history" ? row.absent !== undefined : row.feed !== false && row.feed > 1;
    if (isFollowing(row, encoding)) shape[row.name] = schema.optional();
    else shape[row.name] = isOptional ? schema.default(row.absent) : schema;
  }
  return shape;
}

/** The schemas of fields of which the history may have any or none: one that is not written stays so. */
export function partialShapeOf(
  fields: SomeFields,
  forms: { readonly [F in FormName]?: z.ZodType },
): { readonly [key: string]: z.ZodType } {
  const shape: Record<string, z.ZodType> = {};
  for (const { name, form, history } of rowsOf(fields)) {
    const schema = forms[form];
    if (history !== false && schema !== undefined) shape[name] = schema.optional();
  }
  return shape;
}

/** Whether a field that is not written is what the others say. */
function isFollowing({ absent, follows }: Row, encoding: JsonEncoding): boolean {
  return encoding === "history" && absent === undefined && follows !== undefined;
}

/** Returns what writes the fields that the history has, as plain JSON data, without those that say nothing. */
export function writerOfFields<R extends object>(fields: FieldsOf<R>): (value: R) => JsonObject;
export function writerOfFields(fields: SomeFields): (value: JsonObject) => JsonObject {
  const rows = rowsOf(fields).filter(({ history }) => history !== false);
  return (value) => {
    const written: Record<string, unknown> = {};
    for (const { name, absent, follows } of rows) {
      const own = value[name];
      if (isSameValue(own, absent === undefined ? follows?.(value) : absent)) continue;
      written[name] = own instanceof Map ? writtenTags(own) : own;
    }
    return written;
  };
}
