import { afterEach, beforeEach, expect } from "vitest";
import { CloudProfile, CredentialsBinding, Project, SecretBinding, Shoot } from "../../src/api/index.ts";
import { createProtections } from "../../src/controllers/protections.ts";
import { refTo, Secret, type KubeClient, type ObjectRef, type Occurrence } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });
const namespace = "garden-dev";
const secret = refTo(Secret, { namespace, name: "used" });
const secretBinding = refTo(SecretBinding, { namespace, name: "used" });
const credentialsBinding = refTo(CredentialsBinding, { namespace, name: "used" });

let client: KubeClient;
let told: Occurrence[];
let stop: () => Promise<void>;

test.beforeAll(({ cluster }) => void (client = cluster.client));

/** Starts the controllers as the manager does, which may die and start again. */
const start = () => {
  const events = { record: (occurrence: Occurrence) => void told.push(occurrence) };
  const protections = createProtections({ gardenClient: client, events, log, period: 50 });
  protections.start();
  stop = protections.stop;
};

beforeEach(async () => {
  told = [];
  await applyGarden(client);
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "used" } });
  start();
});
afterEach(() => stop());

const bindSecret = () =>
  client.apply<SecretBinding>({
    ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "SecretBinding", metadata: { namespace, name: "used" } },
    ...{ provider: { type: "local" }, secretRef: { namespace, name: "used" } },
  });
const bindCredentials = (name = "used") =>
  client.apply<CredentialsBinding>({
    ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "CredentialsBinding" },
    ...{ metadata: { namespace, name }, provider: { type: "local" } },
    credentialsRef: { apiVersion: "v1", kind: "Secret", namespace, name: "used" },
  });
const finalizers = async (ref: ObjectRef) => (await client.read(ref))?.metadata.finalizers ?? [];
const held = (ref: ObjectRef, finalizer = "gardener") =>
  eventually(async () => expect(await finalizers(ref)).toContain(finalizer));
const gone = (ref: ObjectRef) => eventually(async () => expect(await client.read(ref)).toBeUndefined());
/** Asks for the deletion, and looks after several rounds of the controller. */
const staysThoughDeleted = async (ref: ObjectRef) => {
  await client.remove(ref);
  await new Promise((resolve) => setTimeout(resolve, 400));
  expect((await client.read(ref))?.metadata.deletionTimestamp).toBeDefined();
};

test.each([
  [secretBinding, bindSecret, "gardener.cloud/secretbinding", { secretBindingName: "used" }],
  [credentialsBinding, bindCredentials, "gardener.cloud/credentialsbinding", { credentialsBindingName: "used" }],
] as const)(
  "$kind stays while a Shoot needs it, and its Secret as long as that",
  async (binding, bind, finalizer, spec) => {
    await bind();
    const { name } = await createShoot(client, "user", { credentialsBindingName: undefined, ...spec });
    await held(binding);
    await held(secret, finalizer);
    await staysThoughDeleted(secret);
    await staysThoughDeleted(binding);
    const why = `It cannot be deleted yet: it is needed by Shoot ${namespace}/user`;
    await eventually(() => expect(told.map(({ note }) => note)).toContain(why));

    await client.remove(refTo(Shoot, { namespace, name }));
    await gone(binding);
    await gone(secret);
  },
);

test("a Secret stays until the last binding that names it has gone, of either kind", async () => {
  await bindSecret();
  await bindCredentials();
  await held(secret, "gardener.cloud/secretbinding");
  await held(secret, "gardener.cloud/credentialsbinding");
  await client.remove(secretBinding);
  await gone(secretBinding);
  expect(await finalizers(secret)).toEqual(["gardener.cloud/credentialsbinding"]);
  await staysThoughDeleted(secret);
  await client.remove(credentialsBinding);
  await gone(secret);
});

test("a Secret stays while a binding of the same kind names it, also one that is deleted and that a Shoot needs", async () => {
  const other = refTo(CredentialsBinding, { namespace, name: "other" });
  await bindCredentials();
  await bindCredentials("other");
  const { name } = await createShoot(client, "user", { credentialsBindingName: "used" });
  await held(secret, "gardener.cloud/credentialsbinding");
  for (const binding of [credentialsBinding, other]) await held(binding);
  await staysThoughDeleted(credentialsBinding);
  await client.remove(other);
  await gone(other);
  await staysThoughDeleted(secret);
  await client.remove(refTo(Shoot, { namespace, name }));
  await gone(credentialsBinding);
  await gone(secret);
});

test("a Secret is let go also when the manager was away while its binding was deleted", async () => {
  await bindCredentials();
  await held(secret, "gardener.cloud/credentialsbinding");
  await held(credentialsBinding);
  await stop();
  await client.remove(credentialsBinding);
  await client.remove(secret);
  start();
  await gone(credentialsBinding);
  await gone(secret);
});

test("a CloudProfile and a Project stay while a Shoot is of them", async () => {
  const profile = refTo(CloudProfile, { name: "local" });
  const project = refTo(Project, { name: "dev" });
  const { name } = await createShoot(client, "resident");
  for (const ref of [profile, project]) {
    await held(ref);
    await staysThoughDeleted(ref);
  }
  await client.remove(refTo(Shoot, { namespace, name }));
  for (const ref of [profile, project]) await gone(ref);
});

test("a ControllerDeployment stays while a registration names it", async () => {
  const apiVersion = "core.gardener.cloud/v1beta1";
  const registration = { apiVersion, kind: "ControllerRegistration", name: "calico" };
  const deployment = { apiVersion, kind: "ControllerDeployment", name: "calico" };
  await client.apply({
    ...{ apiVersion, kind: "ControllerDeployment", metadata: { name: "calico" } },
    helm: { rawChart: "Y2hhcnQ=" },
  });
  await client.apply({
    ...{ apiVersion, kind: "ControllerRegistration", metadata: { name: "calico" } },
    spec: { deployment: { deploymentRefs: [{ name: "calico" }] } },
  });
  await held(deployment);
  await staysThoughDeleted(deployment);
  await client.remove(registration);
  await gone(deployment);
});

test("finalizers of others stay", async () => {
  await bindSecret();
  await client.patch(secretBinding, { metadata: { finalizers: ["example.com/theirs"] } });
  await held(secretBinding);
  await client.remove(secretBinding);
  await eventually(async () => expect(await finalizers(secretBinding)).toEqual(["example.com/theirs"]));
  await client.patch(secretBinding, { metadata: { finalizers: null } });
});
