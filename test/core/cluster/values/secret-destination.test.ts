import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import {
  type AddressWord,
  type SecretKind,
  secretProblem,
} from "../../../../src/core/cluster/values/secret-destination.ts";
import { readSources } from "../../../fake/source-files.ts";

interface SentSecret {
  readonly secret: string;
  readonly kind: SecretKind;
  readonly from: string;
  readonly sent_by: readonly string[];
  readonly to: readonly AddressWord[];
  readonly decided_by: string;
  readonly gates?: readonly string[];
}

interface Decision {
  readonly kind: SecretKind;
  readonly word: AddressWord;
  readonly expects_tls?: boolean;
  readonly may_be_here?: boolean;
  readonly to: Readonly<Record<string, string | true>>;
}

const table: { readonly secrets: readonly SentSecret[]; readonly decisions: readonly Decision[] } = parse(
  readFileSync(new URL("../../../../../test/spec/secrets.yaml", import.meta.url), "utf8").replaceAll(
    /: yes\b/g,
    ": true",
  ),
);

const sources = new Map(
  readSources(new URL("../../../../../src/", import.meta.url).pathname).map(({ file, text }) => [file, text]),
);

/** What sends a secret looks like this in our code. */
const sending = [
  /\bauthorization: [`{\w.]/i,
  /name === "authorization" &&/,
  /\bauth: credentials\.auth\b/,
  /\/v3\/auth\/authenticate/,
  /\bpassword: \(\) =>/,
  /\[relayHeaders\.secret\]: /,
];

test("each place that sends a secret is in the table, and no other is", () => {
  const found = [...sources]
    .filter(([, text]) => sending.some((pattern) => pattern.test(text.replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, ""))))
    .map(([file]) => file)
    .toSorted();
  assert.deepEqual(found, [...new Set(table.secrets.flatMap(({ sent_by: sentBy }) => sentBy))].toSorted());
});

for (const { secret, to, decided_by: decider, gates = [] } of table.secrets)
  test(`${secret}: what decides where it goes is there`, () => {
    const text = sources.get(decider);
    if (text === undefined) assert.deepEqual(to, ["configured"], `${decider}: no file of src`);
    else assert.match(text, /\bsecretProblem\(/, decider);
    for (const gate of gates) {
      const [file = "", word = ""] = gate.split(" ");
      assert.ok(sources.get(file)?.includes(word), gate);
    }
  });

for (const { kind, word, expects_tls: expectsTls, may_be_here: mayBeHere, to } of table.decisions)
  for (const [address, wanted] of Object.entries(to))
    test(`${kind} to ${address}, ${word}: ${wanted === true ? "yes" : wanted}`, () => {
      const more = {
        ...(expectsTls === undefined ? {} : { expectsTls }),
        ...(mayBeHere === undefined ? {} : { mayBeHere }),
      };
      assert.equal(secretProblem(kind, { address, word, ...more }), wanted === true ? null : wanted);
    });
