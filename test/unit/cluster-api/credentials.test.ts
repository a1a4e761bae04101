import { expect, test } from "vitest";
import { ShootCluster } from "../../../src/api/cluster-api/index.ts";
import { CredentialsBinding, Shoot } from "../../../src/api/index.ts";
import { INFRASTRUCTURE_ID_LABEL } from "../../../src/api/labels.ts";
import { provideCredentials } from "../../../src/cluster-api/shoot-cluster/credentials.ts";
import { releaseCredentials } from "../../../src/cluster-api/shoot-cluster/release-credentials.ts";
import { Secret, typeMeta } from "../../../src/kube/index.ts";
import { shootTemplate } from "../../support/cluster-api-objects.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const holder = { id: "my-uid", shoot: { namespace: "garden-dev", name: "mine" } };
const key = { namespace: "garden-dev", name: "cluster-api-mine" };

const infrastructure: ShootCluster = {
  ...typeMeta(ShootCluster),
  metadata: { namespace: "management", name: "mine", uid: "my-uid" },
  spec: { credentials: { secretRef: { name: "account" }, providerType: "local" } },
};

const source: Secret = {
  ...typeMeta(Secret),
  metadata: { namespace: "management", name: "account" },
  data: { key: "YQ==" },
};

const secretOf = (id?: string): Secret => ({
  ...typeMeta(Secret),
  metadata: { ...key, ...(id && { labels: { [INFRASTRUCTURE_ID_LABEL]: id } }) },
  data: { key: "b2xk" },
});

const bindingOf = (id?: string): CredentialsBinding => ({
  ...typeMeta(CredentialsBinding),
  metadata: { ...key, ...(id && { labels: { [INFRASTRUCTURE_ID_LABEL]: id } }) },
  provider: { type: "local" },
  credentialsRef: { ...typeMeta(Secret), ...key },
});

/** A Shoot of the project that names the binding. */
const user: Shoot = {
  ...typeMeta(Shoot),
  metadata: { namespace: "garden-dev", name: "left" },
  spec: {
    ...shootTemplate("left").spec,
    region: "local",
    kubernetes: { version: "1.34.4" },
    credentialsBindingName: key.name,
  },
};

test("a Secret that is not there, or not labelled to be shared, changes nothing in the garden", async () => {
  const [secret, binding] = [secretOf("my-uid"), bindingOf("my-uid")];
  const garden = keepObjects(secret, binding);
  const place = { infrastructure, holder, source: undefined, present: { secret, binding } };
  expect(await provideCredentials(garden.client, place)).toMatchObject({ reason: "CredentialsMissing" });
  expect([...garden.objects.values()]).toEqual([secret, binding]);
});

test.each([
  ["a user's own", undefined],
  ["another ShootCluster's", "their-uid"],
])("a Secret of that name in the garden that is %s stays as it is", async (_, id) => {
  const theirs = secretOf(id);
  const garden = keepObjects(theirs);
  const place = { infrastructure, holder, source, present: { secret: undefined, binding: undefined } };
  expect(await provideCredentials(garden.client, place)).toEqual({
    reason: "CredentialsTaken",
    message: "Secret garden-dev/cluster-api-mine is in the garden already, and is not this ShootCluster's",
  });
  expect([...garden.objects.values()]).toEqual([theirs]);
});

test("credentials that a Shoot uses still stay, and are the project's own from then on", async () => {
  const garden = keepObjects(secretOf("my-uid"), bindingOf("my-uid"), user);
  expect(await releaseCredentials(garden.client, holder)).toBe(true);
  expect((await garden.client.read(Secret, key))?.metadata.labels).toEqual({});
  expect((await garden.client.read(CredentialsBinding, key))?.metadata.labels).toEqual({});
});

test("credentials that are another ShootCluster's stay when this one goes", async () => {
  const garden = keepObjects(secretOf("their-uid"), bindingOf("their-uid"));
  expect(await releaseCredentials(garden.client, holder)).toBe(true);
  expect(garden.objects.size).toBe(2);
});

test("credentials go before the ShootCluster does", async () => {
  const garden = keepObjects(secretOf("my-uid"), bindingOf("my-uid"));
  expect(await releaseCredentials(garden.client, holder), "until they are seen to be gone").toBe(false);
  expect(garden.objects.size).toBe(0);
  expect(await releaseCredentials(garden.client, holder)).toBe(true);
});
