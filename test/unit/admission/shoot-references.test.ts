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
