import { expect, test } from "vitest";
import { createLogger, type LogOptions } from "../../src/log.ts";

function logTo(lines: string[], o: Partial<LogOptions> = {}) {
  return createLogger({ name: "test", level: "info", destination: { write: (line) => void lines.push(line) }, ...o });
}

test("a record is JSON: fields, level by name, a constant message", () => {
  const lines: string[] = [];
  logTo(lines).child({ seed: "s" }).info({ shoot: "a/b" }, "step done");
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    ...{ name: "test", level: "info", seed: "s", shoot: "a/b", msg: "step done" },
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
});

test("credentials never reach the output, however they are nested", () => {
  const lines: string[] = [];
  const secret = {
    kubeconfig: "S3CRET",
    token: "S3CRET",
    data: { a: "S3CRET" },
    clientKey: "S3CRET",
    "client-key-data": "S3CRET",
  };
  for (const pretty of [false, true]) {
    const log = logTo(lines, { pretty });
    log.info({ ...secret, key: "S3CRET", object: { ...secret, user: secret } }, "here");
    log.info({ list: [{ one: { two: { three: { four: [secret] } } } }] }, "deep");
    log.child({ request: { headers: { authorization: "S3CRET" } } }).info("child");
    const cause = new Error("answered Bearer S3CRET");
    log.error({ err: Object.assign(new Error("token: S3CRET", { cause }), { details: [{ secret }] }) }, "error");
    log.info({ said: "-----BEGIN PRIVATE KEY-----\nS3CRET\n-----END PRIVATE KEY-----" }, "text");
  }
  expect(lines.join()).not.toContain("S3CRET");
  expect(lines.join()).toContain("[redacted]");
});

test("a pretty record is one readable line, and an error keeps its stack and cause", () => {
  const lines: string[] = [];
  const log = logTo(lines, { pretty: true });
  log.warn({ shoot: "a/b", note: "two words", n: 1 }, "careful");
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN  test careful shoot=a\/b note="two words" n=1\n$/);
  log.error({ err: new Error("outer", { cause: new Error("inner") }) }, "failed");
  expect(lines[1]).toMatch(/ERROR test failed\nError: outer\n[^]*caused by: Error: inner\n/);
});

test("records below the level are dropped", () => {
  const lines: string[] = [];
  logTo(lines).debug("chatty");
  expect(lines).toEqual([]);
});
