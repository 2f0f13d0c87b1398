import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { withDeadline } from "../../../src/cli/client/deadline.ts";
import { runJson } from "../../fake/command-line.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects garbage again and again, as a busy process does by itself. */
async function whileCollecting<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(collect, 5);
  return work.finally(() => clearInterval(timer));
}

test("a deadline is kept although garbage is collected meanwhile", async () => {
  const never = new AbortController().signal;
  const waiting = withDeadline(100, [never], async (signal) => {
    await once(signal, "abort");
    return "aborted";
  });
  assert.equal(await whileCollecting(waiting), "aborted");
});

test("a server that never answers is given up although garbage is collected meanwhile", async () => {
  const silent = await serveCannedAnswers({ "/status": { body: "", isSilent: true } });
  try {
    const document = await whileCollecting(runJson(["status", "--server", silent.url, "--timeout", "200ms"]));
    assert.match(document.diagnostics[0]?.message ?? "", /no answer within 200 ms/);
  } finally {
    await silent.close();
  }
});

test("an earlier end ends it, also one that came before", async () => {
  const earlier = new AbortController();
  const waiting = withDeadline(60_000, [earlier.signal], (signal) => once(signal, "abort"));
  earlier.abort();
  await waiting;
  assert.equal(await withDeadline(60_000, [earlier.signal], ({ aborted }) => aborted), true);
});

test("nothing is left behind when the work is over before", async () => {
  const earlier = new AbortController();
  const signal = await withDeadline(60_000, [earlier.signal], (given) => given);
  earlier.abort();
  assert.equal(signal.aborted, false);
});
