import * as fc from "fast-check";
/** Bytes as text, one character for each byte. */
const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const bytes = (maxLength) => fc.array(byte, { maxLength }).map((all) => all.join(""));
const control = fc.constantFrom("\0", "\u0001", "\b", "\t", "\v", "\u001b", "\u007f", "\u0085", "\u00ff", "\r", "\n");
const word = fc.stringMatching(/^[\w -]{0,12}$/);
const spoilt = (text) => fc.tuple(text, control, text).map(([before, odd, after]) => `${before}${odd}${after}`);
const version = fc.oneof({ weight: 40, arbitrary: fc.constantFrom("HTTP/1.1", "HTTP/1.0") }, fc.constantFrom("HTTP/2", "HTTP/0.9", "ICY", "http/1.1", ""));
const status = fc.oneof({ weight: 20, arbitrary: fc.constantFrom("200", "202", "204", "302", "304", "401", "404", "503") }, { weight: 3, arbitrary: fc.integer({ min: 0, max: 999 }).map((code) => String(code).padStart(3, "0")) }, fc.constantFrom("", "2", "20", "2000", "-1", "2e2", "0x1", "१२३"));
const phrase = fc.oneof({ weight: 16, arbitrary: word }, spoilt(word), bytes(20), fc.constant("x".repeat(20_000)));
const line = fc.tuple(version, status, phrase).map(([one, two, three]) => `${one} ${two} ${three}`);
const known = fc.constantFrom("Content-Length", "Transfer-Encoding", "Trailer", "Connection", "Keep-Alive", "Upgrade", "Location", "Set-Cookie", "WWW-Authenticate", "X-Rolecall-Node", "X-Rolecall-Relay", "X-Request-Id", "Content-Type", "Content-Encoding", "Date", "Expect", "TE", "__proto__", "Host");
const value = fc.oneof({
    weight: 6,
    arbitrary: fc.constantFrom("0", "2", "5", "-1", "1e3", "999999999999999999999", "chunked", "gzip", "chunked, chunked", "identity", ""),
}, fc.constantFrom("close", "upgrade", "keep-alive", "x-sum", "content-length", "http://evil.example/", "//evil.example", "/\\evil", "http://["), word, spoilt(word), bytes(30));
const wellMade = fc.constantFrom("Content-Length: 2", "Content-Type: text/plain", "Set-Cookie: a=b", "X-Rolecall-Reason: mine", "Location: http://evil.example/", "Location: /here", "WWW-Authenticate: Basic", "Connection: X-Sum", "X-Sum: 1", "Transfer-Encoding: chunked");
const anyHeader = fc
    .tuple(fc.oneof({ weight: 6, arbitrary: known }, word, spoilt(word), bytes(8)), fc.constantFrom(": ", ":", " : ", "", ":\t"), value)
    .map((parts) => parts.join(""));
const header = fc.oneof({ weight: 10, arbitrary: wellMade }, anyHeader);
const lineEnd = fc.oneof({ weight: 40, arbitrary: fc.constant("\r\n") }, fc.constantFrom("\n", "\r", "\n\r", "\r\r\n"));
const chunk = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("2\r\nok\r\n", "0\r\n\r\n", "5;a=b\r\nhello\r\n", "0\r\nX-Sum: 1\r\n\r\n") }, fc.constantFrom("zz\r\nok\r\n", "-1\r\n\r\n", "ffffffffffffffff\r\n", "2\r\nok", "2\r\no\0\r\n", "0\r\nBad Trailer\r\n\r\n"));
const body = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("", "ok", "hello") }, fc.array(chunk, { maxLength: 5 }).map((chunks) => chunks.join("")), bytes(50), fc.constant("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
const whole = fc
    .tuple(line, fc.array(header, { maxLength: 6 }), lineEnd, body)
    .map(([first, headers, end, rest]) => `${[first, ...headers].join(end)}${end}${end}${rest}`);
/** A valid answer with a few bytes changed, removed or inserted. */
const mutated = fc
    .tuple(fc.constantFrom("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.0 503 No\r\n\r\nhello", "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello"), fc.array(fc.tuple(fc.nat(120), fc.constantFrom("change", "drop", "insert"), byte), { minLength: 1, maxLength: 4 }))
    .map(([text, changes]) => changes.reduce((now, [at, kind, odd]) => now.slice(0, at) + (kind === "drop" ? "" : odd) + now.slice(kind === "insert" ? at : at + 1), text));
const text = fc.oneof({ weight: 5, arbitrary: whole }, { weight: 3, arbitrary: mutated }, { weight: 1, arbitrary: bytes(200) });
/**
 * Anything that a server can write before it ends its connection: heads and bodies of all kinds, valid, damaged or
 * missing.
 */
export const randomAnswer = fc
    .tuple(text, fc.array(fc.nat(150), { maxLength: 3 }), fc.constantFrom("close", "close", "reset"))
    .map(([all, cuts, end]) => {
    const written = Buffer.from(all, "latin1");
    const places = [0, ...cuts.toSorted((one, other) => one - other), written.length];
    return { pieces: places.slice(1).map((to, at) => written.subarray(places[at], to)), end };
});
//# sourceMappingURL=random-answer.js.map