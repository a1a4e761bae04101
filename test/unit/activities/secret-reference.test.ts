import { expect, test } from "vitest";
import { referencedSecret } from "../../../src/activities/secret-reference.ts";

const from = { namespace: "garden-dev", who: "CredentialsBinding garden-dev/a" };

test("a reference names a Secret of its own namespace unless it says another", () => {
  expect(referencedSecret({ name: "a" }, from)).toEqual({ namespace: "garden-dev", name: "a" });
  expect(referencedSecret({ apiVersion: "v1", kind: "Secret", namespace: "", name: "a" }, from)).toEqual({
    namespace: "garden-dev",
    name: "a",
  });
  expect(referencedSecret({ namespace: "garden", name: "a" }, from).namespace).toBe("garden");
});

test.each([
  [{ kind: "WorkloadIdentity", apiVersion: "security.gardener.cloud/v1alpha1", name: "a" }, "issues no tokens"],
  [{ kind: "WorkloadIdentity", name: "a" }, "CredentialsBinding garden-dev/a names WorkloadIdentity a"],
  [{ kind: "InternalSecret", apiVersion: "core.gardener.cloud/v1beta1", name: "a" }, "have to be in a Secret"],
  [{ kind: "ConfigMap", apiVersion: "v1", name: "a" }, "have to be in a Secret"],
  [{ kind: "Secret", apiVersion: "example.com/v1", name: "a" }, "have to be in a Secret"],
  [{ kind: "Secret", apiVersion: "v1" }, "names no Secret"],
])("%o is not read as a Secret, and the operator has to act", (ref, message) => {
  expect(() => referencedSecret(ref, from)).toThrow(message);
  expect(() => referencedSecret(ref, from)).toThrow(expect.objectContaining({ codes: ["ERR_CONFIGURATION_PROBLEM"] }));
});
