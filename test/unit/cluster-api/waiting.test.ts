import { expect, test } from "vitest";
import { ShootCluster, type Cluster, type ShootControlPlane } from "../../../src/api/cluster-api/index.ts";
import { whyNotYet, whyUnseen } from "../../../src/cluster-api/control-plane/waiting.ts";
import { typeMeta } from "../../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf } from "../../support/cluster-api-objects.ts";

const infrastructureRef = infrastructureRefOf("one");
const controlPlaneEndpoint = { host: "api.one.example.com", port: 443 };
const infrastructure: ShootCluster = { ...typeMeta(ShootCluster), metadata: { namespace: "garden-dev", name: "one" } };
const asking = controlPlaneOf("one", { endpointFrom: "Infrastructure" });

const provisioned = (spec: Partial<Cluster["spec"]>): Cluster => ({
  ...clusterOf("one", { infrastructureRef, ...spec }),
  status: { initialization: { infrastructureProvisioned: true } },
});

type Case = readonly [string, string, Cluster, ShootControlPlane, ShootCluster | undefined, string | undefined];

test.for<Case>([
  ["no infrastructure", "nothing", clusterOf("one"), controlPlaneOf("one"), undefined, undefined],
  [
    "infrastructure that is not there yet",
    "it",
    clusterOf("one", { infrastructureRef }),
    controlPlaneOf("one"),
    infrastructure,
    "WaitingForInfrastructure",
  ],
  [
    "infrastructure that the watch has yet to bring",
    "it",
    provisioned({}),
    controlPlaneOf("one"),
    undefined,
    "WaitingForInfrastructure",
  ],
  ["infrastructure beside it", "no endpoint", provisioned({}), controlPlaneOf("one"), infrastructure, undefined],
  [
    "infrastructure that brings the endpoint",
    "the endpoint",
    provisioned({}),
    asking,
    infrastructure,
    "WaitingForEndpoint",
  ],
  [
    "infrastructure and an endpoint",
    "nothing more",
    provisioned({ controlPlaneEndpoint }),
    asking,
    infrastructure,
    undefined,
  ],
])("with %s, a Shoot waits for %s", ([, , cluster, controlPlane, found, reason]) => {
  expect(whyNotYet(cluster, controlPlane, found)?.reason).toBe(reason);
});

test("a Shoot that is there waits for an infrastructure that its Cluster names and that is not seen, and for no other kind's", () => {
  expect(whyUnseen(provisioned({}), undefined)).toMatchObject({ reason: "WaitingForInfrastructure" });
  expect(whyUnseen(provisioned({}), infrastructure)).toBeUndefined();
  expect(whyUnseen(clusterOf("one"), undefined)).toBeUndefined();
  expect(
    whyUnseen(clusterOf("one", { infrastructureRef: { ...infrastructureRef, kind: "OtherCluster" } }), undefined),
  ).toBeUndefined();
});
