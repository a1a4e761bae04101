import { readFileSync } from "node:fs";
import { parseYaml } from "../../src/parsing.ts";

/** The objects of the example configuration, with a Secret, its binding, and an extension. */
export function exampleConfiguration(secretValue = "c2VjcmV0"): Record<string, unknown>[] {
  return [
    ...["shoot", "project", "cloud-profile"].map((name) => readExample(name)),
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "garden", name: "credentials" },
      data: { token: secretValue },
    },
    {
      apiVersion: "security.gardener.cloud/v1alpha1",
      kind: "CredentialsBinding",
      metadata: { namespace: "garden", name: "credentials" },
      provider: { type: "local" },
      credentialsRef: { apiVersion: "v1", kind: "Secret", namespace: "garden", name: "credentials" },
    },
    {
      apiVersion: "core.gardener.cloud/v1",
      kind: "ControllerDeployment",
      metadata: { name: "provider-local" },
      helm: { rawChart: "Y2hhcnQ=" },
    },
    {
      apiVersion: "core.gardener.cloud/v1beta1",
      kind: "ControllerRegistration",
      metadata: { name: "provider-local" },
      spec: {
        deployment: { deploymentRefs: [{ name: "provider-local" }] },
        resources: [{ kind: "Network", type: "local" }],
      },
    },
  ];
}

/** An object of `deploy/examples/self-hosted`. */
function readExample(name: string): Record<string, unknown> {
  const file = new URL(`../../deploy/examples/self-hosted/${name}.yaml`, import.meta.url);
  return parseYaml(readFileSync(file, "utf8"), name) as Record<string, unknown>;
}
