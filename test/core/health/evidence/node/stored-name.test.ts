/** Which row of a sender list has a node's name, as PostgreSQL before 16 and since stores an `application_name`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isStoredAs } from "../../../../../src/core/health/evidence/node/stored-name.ts";

const long = "p".repeat(70);

for (const [title, name, row, isSame] of [
  ["the name itself", "pg1", "pg1", true],
  ["a name that cannot be stored as it is, where it was", "pg-é", "pg-é", true],
  ["another plain name", "pg1", "pg2", false],
  ["a beginning of the name", "pg10", "pg1", false],
  ["? for each byte of a character", "pg-é", "pg-??", true],
  ["one ? for a character of two bytes", "pg-é", "pg-?", false],
  ["? in another place", "é-pg", "pg-??", false],
  ["the code of each byte", "pg-é", "pg-\\xc3\\xa9", true],
  ["the code of another character", "pg-é", "pg-\\xc3\\xa8", false],
  ["the code of one byte of two", "pg-é", "pg-\\xc3", false],
  ["codes as PostgreSQL does not write them", "pg-é", "pg-\\xC3\\xA9", false],
  ["two digits for a byte that one would do for", "pg\t1", "pg\\x091", true],
  ["one digit for it", "pg\t1", "pg\\x91", false],
  ["? for a control character", "pg\t1", "pg?1", true],
  ["? for a byte below the first that is kept", "pg\u001f1", "pg?1", true],
  ["? for the byte past the last that is kept", "pg\u007f1", "pg?1", true],
  ["a space, the first that is kept", "pg 1é", "pg 1??", true],
  ["? for a space", "pg 1é", "pg?1??", false],
  ["a tilde, the last that is kept", "pg~1é", "pg~1??", true],
  ["? for a tilde", "pg~1é", "pg?1??", false],
  ["the first 63 bytes", long, long.slice(0, 63), true],
  ["the first 62 bytes", long, long.slice(0, 62), false],
  ["the first 64 bytes", long, long.slice(0, 64), false],
  ["the first 63 bytes of another name", `x${long}`, long.slice(0, 63), false],
  ["half of the last character", `${"p".repeat(62)}é`, `${"p".repeat(62)}?`, true],
  ["63 characters of codes", "é".repeat(40), "\\xc3\\xa9".repeat(8).slice(0, 63), true],
  ["62 characters of codes", "é".repeat(40), "\\xc3\\xa9".repeat(8).slice(0, 62), false],
] as const)
  test(`a row with ${title} ${isSame ? "has" : "does not have"} the name`, () => {
    assert.equal(isStoredAs(name, row), isSame);
  });
