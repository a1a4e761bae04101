import { expect, test } from "vitest";
import { newReferences } from "../../../src/admission/index.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { shootOf } from "../../support/cluster-api-objects.ts";

/** A Shoot of garden-a, whose DNS provider's credentials are written like this. */
const shootWith = (credentialsRef: object): Shoot => {
  const shoot = shootOf("one");
  const providers = [{ type: "local", primary: true, credentialsRef }] as NonNullable<
    Shoot["spec"]["dns"]
  >["providers"];
  return { ...shoot, metadata: { namespace: "garden-a", name: "one" }, spec: { ...shoot.spec, dns: { providers } } };
};

test("a reference to credentials is judged in the Shoot's namespace, whatever namespace it says: there they are read", () => {
  const [reference] = newReferences(shootWith({ kind: "Secret", name: "dns", namespace: "garden-b" }), undefined);
  expect(reference).toMatchObject({ apiVersion: "v1", kind: "Secret", namespace: "garden-a", name: "dns" });
});

test("the credentials for backups of a self-hosted Shoot are judged in the namespace that they name, where they are read", () => {
  const shoot = shootWith({ kind: "Secret", name: "dns" });
  const backup = (namespace?: string): Shoot => {
    const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "backup", namespace };
    const workers = [{ name: "cp", controlPlane: { backup: { provider: "S3", credentialsRef } } }];
    return { ...shoot, spec: { ...shoot.spec, provider: { ...shoot.spec.provider, workers } } } as unknown as Shoot;
  };
  const field = "spec.provider.workers[0].controlPlane.backup.credentialsRef";
  expect(newReferences(backup("garden-b"), shoot)).toMatchObject([{ field, namespace: "garden-b", name: "backup" }]);
  expect(newReferences(backup(), shoot)).toMatchObject([{ field, namespace: "garden-a" }]);
  expect(newReferences(backup("garden-b"), backup("garden-a"))).toHaveLength(1);
});
