import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { inWords } from "../../../src/gardenadm/steps/tables.ts";
import { withLock } from "../../../src/in-process/lock.ts";

test("a command beside which another one is at work says so in a sentence", async () => {
  const folder = await mkdtemp(join(tmpdir(), "locked-"));
  onTestFinished(async () => await rm(folder, { recursive: true }));
  const lock = join(folder, "lock");
  const second = async () => await withLock(lock, async () => {});
  const error = await withLock(lock, async () => await second().catch((failed: unknown) => failed));
  expect(inWords(error, new AbortController().signal)).toMatchObject({
    exit: "failed",
    message: `another gardenadm command is at work on this machine (process ${process.pid}): wait until it has ended`,
  });
});
