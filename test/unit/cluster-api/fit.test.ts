import { expect, test } from "vitest";
import { ShootCluster } from "../../../src/api/cluster-api/index.ts";
import { Seed } from "../../../src/api/index.ts";
import { findMismatch, findNoSeed } from "../../../src/cluster-api/shoot-cluster/fit.ts";
import { typeMeta } from "../../../src/kube/index.ts";
import { controlPlaneOf, shootTemplate } from "../../support/cluster-api-objects.ts";
import { exampleObjects } from "../../support/examples.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const infrastructure = (spec: ShootCluster["spec"]): ShootCluster => ({
  ...typeMeta(ShootCluster),
  metadata: { namespace: "garden-dev", name: "one" },
  spec,
});

const account = (providerType: string) => ({ secretRef: { name: "account" }, providerType });

/** A control plane of region `local` whose template names no binding. */
const { credentialsBindingName: _, ...spec } = shootTemplate("one").spec;
const bare = controlPlaneOf("one", { shootTemplate: { spec } });

test.each([
  [
    "another region than the template",
    { region: "far" },
    "spec.region is far, and the template of ShootControlPlane one says local: say one of them",
  ],
  [
    "credentials of another provider",
    { credentials: account("aws") },
    "spec.credentials are for provider aws, and the Shoot of ShootControlPlane one is of local",
  ],
])("an infrastructure with %s is not ready, and says why", (_, wrong, message) => {
  expect(findMismatch(infrastructure(wrong), bare)?.message).toBe(message);
});

test.each([
  ["says the same", infrastructure({ region: "local", credentials: account("local") }), bare],
  ["has no control plane yet", infrastructure({ region: "far", credentials: account("aws") }), undefined],
  [
    "brings what a template with a binding of its own leaves",
    infrastructure({ credentials: account("aws") }),
    controlPlaneOf("one"),
  ],
])("an infrastructure that %s fits", (_, fitting, controlPlane) => {
  expect(findMismatch(fitting, controlPlane)).toBeUndefined();
});

test("an infrastructure whose selector takes no Seed says so until it is provisioned", async () => {
  const seed = (await exampleObjects()).find(({ kind }) => kind === Seed.kind);
  const { client } = keepObjects(...(seed ? [{ ...seed, metadata: { ...seed.metadata, labels: { tier: "a" } } }] : []));
  const choosing = (tier: string) => infrastructure({ seedSelector: { matchLabels: { tier } } });
  expect(await findNoSeed(client, choosing("a"))).toBeUndefined();
  expect(await findNoSeed(client, choosing("b"))).toEqual({
    reason: "NoSeed",
    message: "spec.seedSelector takes none of the garden's 1 Seed",
  });
  const provisioned = { ...choosing("b"), status: { initialization: { provisioned: true } } };
  expect(await findNoSeed(client, provisioned)).toBeUndefined();
});
