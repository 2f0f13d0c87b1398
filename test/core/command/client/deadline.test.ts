import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { withDeadline } from "../../../../src/core/command/client/deadline.ts";
import { runJson } from "../../../fake/command-line.ts";
import { serveCannedAnswers } from "../../../fake/canned-server.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects garbage all the time, as a busy process does. */
async function whileCollecting<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(collect, 5);
  return work.finally(() => clearInterval(timer));
}

test("aborts at the deadline although garbage is collected meanwhile", async () => {
  const never = new AbortController().signal;
  const waiting = withDeadline(100, [never], async (signal) => {
    await once(signal, "abort");
    return "aborted";
  });
  assert.equal(await whileCollecting(waiting), "aborted");
});

test("gives up on a silent server although garbage is collected meanwhile", async () => {
  const silent = await serveCannedAnswers({ "/status": { body: "", isSilent: true } });
  try {
    const document = await whileCollecting(runJson(["status", "--server", silent.url, "--timeout", "200ms"]));
    assert.match(document.diagnostics[0]?.message ?? "", /no response within 200 ms/);
  } finally {
    await silent.close();
  }
});

test("aborts with an earlier signal, also if that was aborted before", async () => {
  const earlier = new AbortController();
  const waiting = withDeadline(60_000, [earlier.signal], (signal) => once(signal, "abort"));
  earlier.abort();
  await waiting;
  assert.equal(await withDeadline(60_000, [earlier.signal], ({ aborted }) => aborted), true);
});

test("does not abort after the work is done", async () => {
  const earlier = new AbortController();
  const signal = await withDeadline(60_000, [earlier.signal], (given) => given);
  earlier.abort();
  assert.equal(signal.aborted, false);
});
