import { expect, it } from "vitest";
import { createSigner } from "../../../src/activities/waits/signature.ts";
import { shootUidOf } from "../../../src/activities/waits/shoot-of.ts";
import { newStateKey } from "../../support/state-keys.ts";

const [older, newer, other] = [newStateKey("seed-1"), newStateKey("seed-1"), newStateKey("seed-2")];

it("a signature holds for its text, in a new process, and after the key was changed", () => {
  const signature = createSigner([older]).sign("text");
  expect(createSigner([older]).verify("text", signature)).toBe(true);
  expect(createSigner([newer, older]).verify("text", signature)).toBe(true);
  expect(createSigner([newer, older]).sign("text")).not.toBe(signature);
});

it("a signature holds for no other text, and is made by no other seed", () => {
  const signature = createSigner([older]).sign("text");
  expect(createSigner([older]).verify("texts", signature)).toBe(false);
  expect(createSigner([other]).verify("text", signature)).toBe(false);
  for (const forged of ["", "AAAA", `${signature}AA`]) expect(createSigner([older]).verify("text", forged)).toBe(false);
});

it("an object is of the Shoot that its namespace, or its own name, says", () => {
  const annotations = { "shoot.gardener.cloud/uid": "uid-1" };
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shoot--dev--a", annotations } };
  const of = (kind: string, metadata: { name: string; namespace?: string }) =>
    shootUidOf({ apiVersion: "v1", kind, metadata }, (name) => (name === "shoot--dev--a" ? namespace : undefined));
  expect(of("Worker", { name: "a", namespace: "shoot--dev--a" })).toBe("uid-1");
  expect(of("Worker", { name: "a", namespace: "shoot--dev--b" })).toBeUndefined();
  expect(of("BackupEntry", { name: "shoot--dev--a--uid-1" })).toBe("uid-1");
  expect(of("BackupEntry", { name: "source-shoot--dev--a--uid-1" })).toBe("uid-1");
  expect(of("BackupEntry", { name: "nothing" })).toBeUndefined();
  expect(shootUidOf(namespace, () => undefined)).toBe("uid-1");
});
