import { expect, it } from "vitest";
import { isOfDamage } from "../../../src/activities/backup/snapshot-verdict.ts";
import type { ContainerStatus } from "../../../src/kube/index.ts";

const ended = (name: string, exitCode: number, message = ""): ContainerStatus => ({
  name,
  state: { terminated: { exitCode, message } },
});
const sum = '{"level":"fatal","msg":"snapshot restore","error":"expected sha256 [1], got [2]"}';

it.each([
  ["its sum is wrong", [ended("download", 0), ended("restore", 1, sum)], []],
  ["it makes the tool panic", [ended("restore", 2, "panic: page 3 already freed")], []],
  ["it cannot be read", [ended("restore", 137)], [ended("verify", 1, "invalid database")]],
])("a snapshot is damaged when %s", (_, initContainerStatuses, containerStatuses) => {
  expect(isOfDamage({ status: { initContainerStatuses, containerStatuses } })).toBe(true);
});

it.each([
  ["was not downloaded", [ended("download", 3, "directory not found")]],
  ["took more memory than there was", [ended("restore", 137)]],
  ["was restored on a node that shut down", [ended("restore", 143)]],
  ["did not fit on the disk", [ended("restore", 1, "write /var/etcd/data/new.etcd: no space left on device")]],
  ["is in a volume that is away", [ended("verify", 1, "read /backup/x.db: input/output error")]],
  ["is still being restored", [{ name: "restore", state: {} }]],
  ["is good", [ended("restore", 0)]],
])("a snapshot is not called damaged because it %s", (_, initContainerStatuses) => {
  expect(isOfDamage({ status: { initContainerStatuses } })).toBe(false);
});

it("a pod of which nothing is known says nothing of its snapshot", () => {
  expect(isOfDamage({})).toBe(false);
});
