import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CloudProfile, Cluster, type KubeObject } from "../../src/api/index.ts";
import { ExtensionError } from "../../src/extension/index.ts";
import { refOf, refTo, unlessGone } from "../../src/kube/index.ts";
import { createShoot, credentialsBinding, projectNamespace, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { createScriptedExtension, type ScriptedExtension } from "../support/scripted-extension.ts";
import { findShootRemains } from "../support/shoot-remains.ts";

let local: LocalEnvironment;

beforeAll(async () => void (local = await localEnvironment()));
afterAll(async () => await local?.close());

describe("a Shoot whose credentials are missing", () => {
  let shoot: TestShoot;
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "lost", namespace: projectNamespace } };

  test("parks at the step that needs them, and says which Secret is not there", async () => {
    await local.gardenClient.apply(secret, { fieldManager: "test" }); // a binding to nothing is refused
    await local.gardenClient.apply(credentialsBinding("lost", "lost"), { fieldManager: "test" });
    await lose(local, secret);
    shoot = await createShoot(local, { name: "lost", credentials: "lost" });
    const { status } = await shoot.settles("Failed", "Create");
    expect(status?.lastErrors).toEqual([
      expect.objectContaining({
        taskID: "cloudProviderSecret",
        description: "Secret garden-dev/lost with the provider's credentials does not exist",
        codes: ["ERR_CONFIGURATION_PROBLEM"],
      }),
    ]);
    const described = await local.perennial("shoot", "describe", "garden-dev/lost");
    expect(described).toContain("Blocked by step cloudProviderSecret: parked");
    expect(described).toContain("Secret garden-dev/lost with the provider's credentials does not exist");
  });

  test("goes on at the parked step after a retry, and repeats no step before it", async () => {
    const before = await shoot.activities("reconcile");
    await local.gardenClient.apply(secret, { fieldManager: "test" });
    await shoot.annotate({ "gardener.cloud/operation": "retry" });
    await shoot.begun("kubeApiServer");
    const again = (await shoot.activities("reconcile")).slice(before.length).filter(isActing);
    expect(again).toContain("infrastructure/apply applyExtension");
    expect(again.filter((activity) => before.includes(activity))).toEqual([
      "cloudProviderSecret/apply deployCloudProviderSecret",
    ]);
    await eventually(async () => {
      expect((await shoot.read())?.metadata.annotations?.["gardener.cloud/operation"]).toBeUndefined();
    });
  });

  test("is deleted in the middle of its create, and nothing is left of it", async () => {
    expect((await shoot.read())?.status?.lastOperation).toMatchObject({ type: "Create", state: "Processing" });
    await leavesNothing(shoot);
  });
});

/** Deletes what the manager may have put its finalizer on by now, as only an operator can. */
async function lose({ gardenClient }: LocalEnvironment, object: KubeObject): Promise<void> {
  await gardenClient.remove(refOf(object));
  await eventually(async () => {
    await unlessGone(gardenClient.patch(refOf(object), { metadata: { finalizers: null } }));
    expect(await gardenClient.read(refOf(object))).toBeUndefined();
  });
}

describe("an extension", () => {
  let shoot: TestShoot;
  let extension: ScriptedExtension;

  beforeAll(() => void (extension = createScriptedExtension(local, "scripted")));
  afterAll(async () => await extension?.stop());

  test("that never answers shows as what the Shoot waits for", async () => {
    shoot = await createShoot(local, { name: "scripted", workerless: true, dnsType: "scripted" });
    await shoot.begun("externalDns");
    await eventually(async () => {
      const described = await local.perennial("shoot", "describe", "garden-dev/scripted");
      expect(described).toContain("Waiting for step externalDns: running");
      expect(described).toContain("DNSRecord shoot--dev--scripted/scripted-external of type scripted");
      expect(described).toContain("It says:  the controller has not taken up what was asked for (reconcile)");
    }, 60_000);
  });

  test("that reports an error worth retrying shows as such, and the Shoot recovers by itself", async () => {
    extension.answer(new ExtensionError("too many requests", ["ERR_INFRA_RATE_LIMITS_EXCEEDED"]));
    extension.start();
    const { status } = await shoot.settles("Error", "Create");
    expect(status?.lastErrors).toEqual([problem("too many requests", "ERR_INFRA_RATE_LIMITS_EXCEEDED")]);
    extension.answer();
    const recovered = await shoot.settles("Succeeded", "Create");
    expect(recovered.status?.lastErrors ?? []).toEqual([]);
  });

  test("that reports an error for people to mend parks the step, as extensions can see, too", async () => {
    extension.answer(new ExtensionError("no permission for the zone", ["ERR_INFRA_UNAUTHORIZED"]));
    await shoot.annotate({
      "shoot.gardener.cloud/tasks": "deployDNSRecordExternal",
      "gardener.cloud/operation": "reconcile",
    });
    const { status } = await shoot.settles("Failed", "Reconcile");
    expect(status?.lastErrors).toEqual([problem("no permission for the zone", "ERR_INFRA_UNAUTHORIZED")]);
    await eventually(async () => {
      const cluster = await local.seedClient.read(Cluster, { name: shoot.technicalID });
      expect(cluster?.spec.shoot.status?.lastOperation?.state).toBe("Failed");
    });
  });

  test("is asked anew, under a new id, by a retry after the cause was mended, and nothing else is done again", async () => {
    extension.answer();
    const before = await shoot.activities("reconcile");
    const asked = extension.asked.length;
    expect(await local.perennial("shoot", "retry", "garden-dev/scripted", "--step", "externalDns")).toContain(
      "retrying externalDns",
    );
    await shoot.settles("Succeeded", "Reconcile");
    const again = (await shoot.activities("reconcile")).slice(before.length).filter(isActing);
    expect(again.filter((activity) => before.includes(activity))).toEqual(["externalDns/apply applyExtension"]);
    expect(extension.asked).toHaveLength(asked + 1);
  });

  test("lets its Shoot be deleted", async () => await leavesNothing(shoot));
});

describe("a Shoot whose CloudProfile doesn't exist", () => {
  test("is refused, with the reason", async () => {
    const created = createShoot(local, { name: "invalid", workerless: true, cloudProfile: "nowhere" });
    await expect(created).rejects.toThrow("there is no CloudProfile nowhere");
  });

  test("says so when the CloudProfile was removed later, by force, and can be deleted", async () => {
    const [profile, name] = [await readProfile("local"), "vanishing"];
    const ref = refTo(CloudProfile, { name });
    await local.gardenClient.apply({ ...ref, metadata: { name }, spec: profile.spec }, { fieldManager: "test" });
    const annotations = { "shoot.gardener.cloud/ignore": "true" };
    const shoot = await createShoot(local, { name, workerless: true, cloudProfile: name, annotations });
    const finalizers = async () => (await local.gardenClient.read(ref))?.metadata.finalizers ?? [];
    await eventually(async () => expect(await finalizers()).toContain("gardener"));
    await local.gardenClient.remove(ref);
    expect(await finalizers()).toContain("gardener"); // held, as long as a Shoot is of it
    await local.gardenClient.patch(ref, { metadata: { finalizers: null } });
    await shoot.annotate({ "shoot.gardener.cloud/ignore": null, "gardener.cloud/operation": "reconcile" });
    const { status } = await shoot.settles("Failed", "Create");
    expect(status?.lastErrors).toEqual([
      expect.objectContaining({
        description: "CloudProfile vanishing does not exist: spec.cloudProfile has to name one that does",
        codes: ["ERR_CONFIGURATION_PROBLEM"],
      }),
    ]);
    await leavesNothing(shoot);
  });
});

async function leavesNothing(shoot: TestShoot): Promise<void> {
  await shoot.remove();
  await shoot.gone();
  await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]));
}

async function readProfile(name: string): Promise<CloudProfile> {
  const profile = await local.gardenClient.read(CloudProfile, { name });
  if (profile === undefined) throw new Error(`there is no CloudProfile ${name}`);
  return profile;
}

const isActing = (activity: string): boolean => activity.includes("/apply ");

const problem = (message: string, code: string): object =>
  expect.objectContaining({
    taskID: "externalDns",
    description: expect.stringContaining(message),
    codes: [code],
  }) as object;
