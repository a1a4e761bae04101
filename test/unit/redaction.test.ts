import { expect, test } from "vitest";
import { judgeLog } from "../../src/activities/etcd/log-verdict.ts";
import { withoutSecrets } from "../../src/redaction.ts";

test.each([
  ["a password", "https://root:hunter2@etcd.test:2379/v3", "https://root:[redacted]@etcd.test:2379/v3"],
  ["a token in place of a user", "https://hunter2@store.test/b", "https://[redacted]@store.test/b"],
  [
    "a signed query of S3",
    "https://s.test/b?a=1&X-Amz-Signature=hunter2&b=2",
    "https://s.test/b?a=1&X-Amz-Signature=[redacted]&b=2",
  ],
  ["one of Azure", "https://s.test/b?sv=2024&sig=hunter2", "https://s.test/b?sv=2024&sig=[redacted]"],
  ["nothing secret", "https://etcd.test:2379/b?revision=4@5", "https://etcd.test:2379/b?revision=4@5"],
])("of a URL with %s, the rest is shown", (_, url, shown) => {
  expect(withoutSecrets(`cannot reach "${url}": refused`)).toBe(`cannot reach "${shown}": refused`);
});

test.each([0, 40, 60])(
  "what an etcd logged is shown without the credentials of its URLs, cut or not (%i)",
  (length) => {
    const error = `${"x".repeat(length)} cannot fetch cluster info from peer urls: could not retrieve cluster information from https://root:hunter2hunter2hunter2hunter2hunter2@etcd.test:2380`;
    const verdict = judgeLog(JSON.stringify({ level: "fatal", msg: "discovery failed", error }));
    expect(verdict?.state).toBe("gone");
    expect(verdict?.why).toContain("cannot fetch cluster info");
    expect(verdict?.why).not.toContain("hunter2");
  },
);
