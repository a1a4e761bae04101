import { readFileSync } from "node:fs";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { Shoot } from "../../src/api/shoot/shoot.ts";
import { parseYaml } from "../../src/parsing.ts";

const core = "core.gardener.cloud/v1beta1";
const inGarden = (name: string) => ({ namespace: "garden", name });

/** The self-hosted Shoot of the examples, with credentials, an Extension and objects that it names. */
export function selfHostedShoot(): Shoot {
  const shoot = Shoot.parse(readExample("shoot"));
  const resource = (kind: string, name: string) => ({ name, resourceRef: { apiVersion: "v1", kind, name } });
  return {
    ...shoot,
    spec: {
      ...shoot.spec,
      credentialsBindingName: "infra",
      extensions: [{ type: "logging" }],
      resources: [resource("Secret", "extra"), resource("ConfigMap", "tuning")],
    },
  };
}

/** A garden with what that Shoot needs, the Shoot left out, and with what others need. */
export function gardenOf(): readonly KubeObject[] {
  return [
    namespace("garden", { "project.gardener.cloud/name": "garden" }),
    readExample("project"),
    readExample("cloud-profile"),
    { ...readExample("cloud-profile"), metadata: { name: "other" } },
    ...["infra", "extra", "pull", "ca", "bucket", "unrelated"].map(secret),
    { apiVersion: "v1", kind: "ConfigMap", metadata: inGarden("tuning"), data: { level: "3" } },
    {
      ...{ apiVersion: "security.gardener.cloud/v1alpha1", kind: "CredentialsBinding", metadata: inGarden("infra") },
      provider: { type: "local" },
      credentialsRef: { apiVersion: "v1", kind: "Secret", ...inGarden("infra") },
    },
    deployment("provider-local", {
      ociRepository: {
        ref: "oci://registry.example.com/provider-local:1.0.0",
        pullSecretRef: { name: "pull" },
        caBundleSecretRef: { name: "ca" },
      },
    }),
    deployment("everywhere", { rawChart: "Y2hhcnQ=" }),
    deployment("other", { rawChart: "Y2hhcnQ=" }),
    registration("provider-local", ["Network/local", "ControlPlane/local", "OperatingSystemConfig/local"], {
      deploymentRefs: [{ name: "provider-local" }],
    }),
    registration("infrastructure", ["Infrastructure/local", "Worker/local", "DNSRecord/local"]),
    registration("logging", ["Extension/logging"]),
    registration("everywhere", [], { policy: "Always", deploymentRefs: [{ name: "everywhere" }] }),
    registration("store", ["BackupBucket/store", "BackupEntry/store"]),
    registration("other", ["Network/other", "Extension/other", "Infrastructure/other"], {
      deploymentRefs: [{ name: "other" }],
    }),
    registration("seeds", ["Extension/seeds"], {}, { autoEnable: ["seed"], clusterCompatibility: ["seed"] }),
    registration("selected", [], { policy: "Always", seedSelector: { matchLabels: { region: "far" } } }),
  ];
}

function readExample(name: string): KubeObject {
  const file = new URL(`../../deploy/examples/self-hosted/${name}.yaml`, import.meta.url);
  return parseYaml(readFileSync(file, "utf8"), name) as KubeObject;
}

const namespace = (name: string, labels: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});

const secret = (name: string): KubeObject => ({
  ...{ apiVersion: "v1", kind: "Secret", metadata: inGarden(name) },
  data: { [name]: Buffer.from(`secret of ${name}`).toString("base64") },
});

const deployment = (name: string, helm: object): KubeObject => ({
  ...{ apiVersion: core, kind: "ControllerDeployment", metadata: { name } },
  helm,
});

/** Of kinds and types such as `Network/local`. */
const registration = (
  name: string,
  resources: readonly string[],
  deployed: object = {},
  offered: object = {},
): KubeObject => ({
  ...{ apiVersion: core, kind: "ControllerRegistration", metadata: { name } },
  spec: {
    resources: resources.map((words) => {
      const [kind = "", type = ""] = words.split("/");
      return { kind, type, ...offered };
    }),
    deployment: deployed,
  },
});
