import { expect, test } from "vitest";
import { createControllerRegistrationValidator } from "../../../src/admission/controller-registration.ts";
import type { AdmissionRequest } from "../../../src/admission/review.ts";
import type { ControllerRegistration } from "../../../src/api/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

test("a resource of a kind that no extension has is refused, with the kind that is meant", async () => {
  expect(await judgementOf(["Network", "Infrastrukture"])).toMatchObject({
    allowed: false,
    causes: [
      {
        field: "spec.resources[1].kind",
        message: expect.stringContaining('"Infrastrukture" is no kind of extension (did you mean Infrastructure?)'),
      },
    ],
  });
  expect(await judgementOf(["Network", "Infrastructure"])).toMatchObject({ allowed: true });
});

test("a registration that was stored with such a kind can be changed otherwise", async () => {
  expect(await judgementOf(["Infrastrukture", "Network"], ["Infrastrukture"])).toMatchObject({ allowed: true });
  expect(await judgementOf(["Infrastrukture", "Netwerk"], ["Infrastrukture"])).toMatchObject({
    causes: [{ field: "spec.resources[1].kind" }],
  });
});

function judgementOf(kinds: readonly string[], before?: readonly string[]) {
  const client = { list: async () => [] } as unknown as KubeClient;
  const request: AdmissionRequest = {
    uid: "1",
    operation: before ? "UPDATE" : "CREATE",
    kind: { group: "core.gardener.cloud", version: "v1beta1", kind: "ControllerRegistration" },
    userInfo: {},
    object: registrationOf(kinds),
    ...(before && { oldObject: registrationOf(before) }),
  };
  return createControllerRegistrationValidator({ client })(request);
}

const registrationOf = (kinds: readonly string[]): ControllerRegistration => ({
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "ControllerRegistration",
  metadata: { name: "a" },
  spec: { resources: kinds.map((kind) => ({ kind, type: "local" })) },
});
