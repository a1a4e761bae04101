import { expect, test } from "vitest";
import { placed } from "../../../src/components/on-nodes/place.ts";

const workload = {
  ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "gardener-resource-manager" } },
  spec: { replicas: 1, template: { spec: { serviceAccountName: "administrator", containers: [] } } },
};

test("what manages a cluster runs on nodes of the control plane only, where no worker's kubelet gets its token", () => {
  const { spec } = placed(workload, "pods");
  const key = "node-role.kubernetes.io/control-plane";
  expect(spec.template.spec).toEqual({
    ...{ serviceAccountName: "administrator", containers: [], nodeSelector: { [key]: "" } },
    tolerations: [{ key, operator: "Exists", effect: "NoSchedule" }],
  });
});
