import { expect } from "vitest";
import { ControllerInstallation, ControllerRegistration, Shoot } from "../../src/api/index.ts";
import { refTo, type KubeClient } from "../../src/kube/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { createShoot } from "../support/garden-objects.ts";
import { inline, soon, useInstallations } from "../support/installations.ts";

const { register, installationOf, told } = useInstallations(test);
let client: KubeClient;

test.beforeAll(({ cluster }) => void (client = cluster.client));

test("what its seed says is required is not taken away", async () => {
  await register("seven", inline());
  const shoot = await createShoot(client, "asks", { seedName: "seed-1" });
  const { metadata } = await installationOf("seven");
  const required = (status: string) => ({
    conditions: [
      {
        ...{ type: "Required", status, reason: "ExtensionObjectsExist", message: "there are some" },
        ...{ lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z" },
      },
      {
        ...{ type: "Healthy", status: "True", reason: "SaidWithIt", message: "what the manager tells of" },
        ...{ lastTransitionTime: "2026-01-01T00:00:00Z", lastUpdateTime: "2026-01-01T00:00:00Z" },
      },
    ],
  });
  const ref = refTo(ControllerInstallation, { name: metadata.name });
  await client.patch(ref, { status: required("True") }, { subresource: "status" });
  // Of what is said of the installation and what becomes of the Shoot, the manager may hear the latter first.
  await soon(async () => expect(told.map(({ reason }) => reason)).toContain("SaidWithIt"));
  await client.remove(refTo(Shoot, { namespace: shoot.namespace, name: "asks" }));
  await createShoot(client, "marker", { seedName: "seed-1", provider: { type: "local" } });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await client.read(ref))?.metadata.uid).toBe(metadata.uid);
  await client.patch(ref, { status: required("False") }, { subresource: "status" });
  await soon(async () => expect(await client.read(ref)).toBeUndefined());
});

test("a registration that is deleted stays as long as a Shoot names its Extension, and nothing new is installed for it", async () => {
  await register("eight", inline(), [{ kind: "Extension", type: "audit" }]);
  await createShoot(client, "asks", { seedName: "seed-1", extensions: [{ type: "audit" }] });
  const { metadata } = await installationOf("eight");
  const finalizers = async () => (await client.read(ControllerRegistration, { name: "eight" }))?.metadata.finalizers;
  await soon(async () => expect(await finalizers()).toHaveLength(1));
  const registration = refTo(ControllerRegistration, { name: "eight" });
  const others = "example.com/held";
  await client.patch(registration, { metadata: { finalizers: [...((await finalizers()) ?? []), others] } });
  await client.remove(registration);
  await register("marker", { ...inline(), policy: "Always" }, [{ kind: "Network", type: "marker" }]);
  await installationOf("marker"); // the manager has seen the deletion by now
  await new Promise((resolve) => setTimeout(resolve, 500));
  const ref = refTo(ControllerInstallation, { name: metadata.name });
  expect((await client.read(ref))?.metadata).toMatchObject({ uid: metadata.uid });
  expect((await client.read(ref))?.metadata.deletionTimestamp).toBeUndefined();

  await client.remove(ref); // by an operator, who means it
  await soon(async () => expect(await finalizers()).toEqual([others]));
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await client.read(ref)).toBeUndefined();
  await client.patch(registration, { metadata: { finalizers: null } });
});

test("a registration that is deleted goes once the last Shoot that names its Extension does", async () => {
  await register("nine", inline(), [{ kind: "Extension", type: "audit" }]);
  const shoot = await createShoot(client, "asks", { seedName: "seed-1", extensions: [{ type: "audit" }] });
  await installationOf("nine");
  await soon(async () =>
    expect((await client.read(ControllerRegistration, { name: "nine" }))?.metadata.finalizers).toHaveLength(1),
  );
  await client.remove(refTo(ControllerRegistration, { name: "nine" }));
  await client.remove(refTo(Shoot, { namespace: shoot.namespace, name: "asks" }));
  await soon(async () => expect(await client.read(ControllerRegistration, { name: "nine" })).toBeUndefined());
});
