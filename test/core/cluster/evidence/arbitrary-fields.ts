import * as fc from "fast-check";
import {
  diskFields,
  exporterSenderFields,
  receiverFields,
  senderFields,
} from "../../../../src/core/cluster/evidence/evidence-fields.ts";
import type { FieldsOf, FormName, FormTypes } from "../../../../src/core/cluster/evidence/fields.ts";
import { unreadableFields } from "../../../../src/core/cluster/documents/report.ts";
import { drainExtents } from "../../../../src/core/cluster/drain.ts";
import { nameOf } from "../../../../src/core/cluster/values/json.ts";
import { parseTags } from "../../../../src/core/cluster/values/tags.ts";

/** Text as it is read of a node: what has control characters is none. */
const text = fc
  .oneof(
    fc.constantFrom("", "pg1", "null", "7300000000000000001", "0x1", "- a: #"),
    fc.string({ unit: "grapheme", maxLength: 20 }),
  )
  .filter((written) => nameOf(written) !== null);
const position = fc.oneof(fc.nat(), fc.maxSafeNat());
const figure = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

/** Values of each form that are no fields of their own. */
const plain = {
  text,
  textOrNull: fc.option(text),
  flag: fc.boolean(),
  opposite: fc.boolean(),
  flagOrNull: fc.constantFrom(true, false, null),
  count: fc.maxSafeNat(),
  countOrNull: fc.option(fc.maxSafeNat()),
  figureOrNull: fc.option(figure),
  timeOrNull: fc.option(fc.integer({ min: 1 })),
  position: fc.option(position),
  seconds: fc.nat().map((seconds) => seconds * 1_000),
  end: fc.integer({ min: 0, max: 2_592_000_000 }),
  extent: fc.constantFrom(...drainExtents),
  mark: fc.constant(true as const),
  // What no JSON value stands for is an exception: numbers that are false, but not written as 0 (src/core/cluster/values/tags.ts).
  tags: fc
    .dictionary(
      text.filter((key) => key !== "__proto__"),
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), text, fc.constantFrom(false, 0, "", [], {})),
      { maxKeys: 4, noNullPrototype: true },
    )
    .map((written) => parseTags(written)),
  unreadable: fc.subarray([...unreadableFields]),
  document: fc.constantFrom("{}", '{"state": "running"}'),
  documentOrNull: fc.constantFrom(null, '{"state": .inf}'),
  family: fc.constantFrom("pg_exporter" as const, "postgres_exporter" as const),
} as const satisfies { readonly [F in FormName]?: fc.Arbitrary<FormTypes[F]> };

const few = { maxLength: 3 } as const;

/** Values of each form. */
export const arbitraryForms: { readonly [F in FormName]: fc.Arbitrary<FormTypes[F]> } = {
  ...plain,
  senders: fc.array(arbitraryOf(senderFields, plain), few),
  exporterSenders: fc.array(arbitraryOf(exporterSenderFields, plain), few),
  receiver: fc.option(arbitraryOf(receiverFields, plain)),
  disk: arbitraryOf(diskFields, plain),
};

/** Evidence of a type, with any value of each of its fields. */
export function arbitraryOf<R extends object>(
  fields: FieldsOf<R>,
  forms: { readonly [F in FormName]?: fc.Arbitrary<unknown> } = arbitraryForms,
): fc.Arbitrary<R> {
  const model = Object.fromEntries(
    Object.entries(
      fields as { [key: string]: { form: FormName; history: unknown; feed: unknown; incident: unknown } },
    ).flatMap(([key, { form, history, feed, incident }]) =>
      [history, feed, incident].every((since) => since === false) && form !== "extent"
        ? []
        : [[key, forms[form] ?? fc.constant(undefined)]],
    ),
  );
  return fc.record(model, { noNullPrototype: true }) as unknown as fc.Arbitrary<R>;
}
