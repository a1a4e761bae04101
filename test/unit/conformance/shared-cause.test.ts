import { expect, test } from "vitest";
import { clearCommands } from "../../../src/conformance/clearing.ts";
import { inShort } from "../../../src/conformance/describe.ts";
import { newPlace, subjectObject } from "../../../src/conformance/objects.ts";
import type { Version } from "../../../src/conformance/recording.ts";
import { scenarios } from "../../../src/conformance/scenarios.ts";
import { findSharedCause } from "../../../src/conformance/shared-cause.ts";

const [life, failedShoot] = scenarios.beside;
const judged = [
  { id: "create.ready", chapter: "create", verdict: "failed" },
  { id: "update.ready", chapter: "update", verdict: "not judged" },
  { id: "failed-shoot.left-alone", chapter: "failedShoot", verdict: "not judged" },
  { id: "error.reported", chapter: "error", verdict: "not judged" },
] as const;

const halt = (obstacle: string | undefined, likeness = obstacle) => ({ obstacle, likeness });

test("scenarios that the same obstacle ends share one cause, in the words of the first", () => {
  if (life === undefined || failedShoot === undefined) throw new Error("there are no such scenarios");
  const halts = new Map([
    [failedShoot, halt("zone of v2 is not served", "zone of  is not served")],
    [life, halt("zone of v1 is not served", "zone of  is not served")],
  ]);
  expect(findSharedCause(scenarios.beside, halts, judged)).toEqual({
    obstacle: "zone of v1 is not served",
    clauses: ["update.ready", "failed-shoot.left-alone"],
  });
});

test("obstacles that differ, or that no controller has to do with, are no shared cause", () => {
  if (life === undefined || failedShoot === undefined) throw new Error("there are no such scenarios");
  const differing = new Map([
    [life, halt("one")],
    [failedShoot, halt("other")],
  ]);
  expect(findSharedCause(scenarios.beside, differing, judged)).toBeUndefined();
  const interrupted = new Map([
    [life, halt(undefined)],
    [failedShoot, halt(undefined)],
  ]);
  expect(findSharedCause(scenarios.beside, interrupted, judged)).toBeUndefined();
});

test("the commands that clear what is left name each object, with its namespace", () => {
  const place = { ...newPlace(), shoot: "v1", namespace: "shoot--verify--v1" };
  const clear = (kind: "DNSRecord" | "BackupBucket") =>
    clearCommands({ kind }, subjectObject({ kind, type: "x" }, place), place);
  expect(clear("DNSRecord")).toEqual([
    `kubectl --namespace shoot--verify--v1 patch dnsrecord.extensions.gardener.cloud v1 --type merge --patch '{"metadata":{"finalizers":null}}'`,
    "kubectl delete cluster.extensions.gardener.cloud shoot--verify--v1",
    "kubectl delete namespace shoot--verify--v1",
  ]);
  const [finalizer, secret] = clear("BackupBucket");
  expect(finalizer).toMatch(/^kubectl patch backupbucket\.extensions\.gardener\.cloud verify-v1 /);
  expect(secret).toBe("kubectl --namespace garden delete secret verify-v1");
});

test("of many versions one line has the first, the last and how many there are between", () => {
  const versions = Array.from({ length: 25 }, (_, index) => ({ at: index * 1_000, object: {}, gone: true }));
  expect(inShort(versions as unknown as readonly Version[])).toBe(
    "+0.00 s: gone; +1.00 s: gone; 22 more; +24.00 s: gone",
  );
});
