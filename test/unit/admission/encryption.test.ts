import { expect, test } from "vitest";
import { encryptionCauses } from "../../../src/admission/shoot/encryption.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

const field = "spec.kubernetes.kubeAPIServer.encryptionConfig";
const asking = (encryptionConfig?: { resources?: string[]; provider?: { type: string } }) =>
  exampleShoot({ kubernetes: { version: "1.34.4", kubeAPIServer: { ...(encryptionConfig && { encryptionConfig }) } } });

test("resources of any group may be encrypted beside Secrets", () => {
  const resources = ["configmaps", "statefulsets.apps", "gadgets.example.org"];
  expect(encryptionCauses({ shoot: asking() })).toEqual([]);
  expect(encryptionCauses({ shoot: asking({ resources, provider: { type: "secretbox" } }), old: undefined })).toEqual(
    [],
  );
});

test.for([
  [["secrets"], 0, "is encrypted always: leave it out"],
  [["configmaps", "configmaps"], 1, "is named twice"],
  [["events.events.k8s.io"], 0, "are stored as events: name these"],
  [["ingresses.extensions"], 0, "is of a group that Kubernetes has no more"],
  [["serviceipallocations"], 0, "has no API and cannot be encrypted"],
] as const)("%j is refused, as the API server would not start with it", ([resources, index, message]) => {
  const shoot = asking({ resources: [...resources] });
  expect(encryptionCauses({ shoot })).toEqual([{ field: `${field}.resources[${index}]`, message }]);
});

test.for(["aesgcm", "identity", "kms", "AESCBC"])("provider %s is refused", (type) => {
  const causes = encryptionCauses({ shoot: asking({ provider: { type } }) });
  expect(causes).toMatchObject([
    {
      field: `${field}.provider.type`,
      message: expect.stringContaining(`must be one of aescbc, secretbox, not ${type}`),
    },
  ]);
});

test("the provider stays as it is while the Shoot lives; to name the default changes nothing", () => {
  const boxed = asking({ provider: { type: "secretbox" } });
  const causes = encryptionCauses({ shoot: boxed, old: asking() });
  expect(causes).toMatchObject([{ field: `${field}.provider.type`, forbidden: true }]);
  expect(encryptionCauses({ shoot: asking({ provider: { type: "aescbc" } }), old: asking() })).toEqual([]);
});
