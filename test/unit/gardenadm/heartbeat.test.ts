import { expect, test } from "vitest";
import { beat } from "../../../src/gardenadm/node-agent/heartbeat.ts";
import { KubeError, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";

const away = (status: number, message: string) =>
  new KubeError(message, { status, reason: "", server: "", retryable: true });

test("that the API server is away is told once, in a sentence, and that it is back once", async () => {
  const answers = [
    ...[away(0, "ECONNREFUSED"), away(504, "Timeout"), away(0, "ECONNRESET"), away(503, "starting")],
    ...[undefined, undefined, away(403, "forbidden"), away(403, "forbidden"), undefined],
  ];
  const ending = new AbortController();
  const client = {
    read: async () => {
      if (answers.length === 0) ending.abort();
      const answer = answers.shift();
      return answer === undefined ? await Promise.resolve({ spec: {} }) : await Promise.reject(answer);
    },
  };
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const log = createLogger({ name: "agent", level: "info", destination });
  const ours = { ...client, replace: async () => await Promise.resolve(undefined) } as unknown as KubeClient;
  await beat(ours, "a", { log, signal: ending.signal, every: 1 });
  const lines = written.map((line) => JSON.parse(line) as { readonly msg: string; readonly err?: unknown });
  expect(lines.map(({ msg }) => msg)).toEqual([
    "the API server does not answer, which is tried again until it does",
    "the API server answers again",
    "lease not renewed",
    "lease renewed again",
  ]);
  expect(written.join("")).not.toContain("stack");
});
