import { expect, test } from "vitest";
import { unsupportedCauses, unsupportedFields } from "../../../src/admission/shoot/unsupported.ts";
import { Shoot } from "../../../src/api/index.ts";
import { toCustomResourceDefinition } from "../../../src/api/schema/crd.ts";

/** Fields that sound of security, and what acts on each. A field that is neither here nor refused fails the walk below. */
const actedOn: Readonly<Record<string, string>> = {
  secretBindingName: "activities/secrets/provisioning.ts",
  credentialsBindingName: "activities/secrets/provisioning.ts",
  accessRestrictions: "api/placement/fit.ts",
  exposureClassName: "activities/control-plane/exposure.ts",
  "dns.providers[].secretName": "activities/control-plane/dns.ts",
  "dns.providers[].credentialsRef": "activities/control-plane/dns.ts",
  "kubernetes.kubeAPIServer.admissionPlugins": "--enable-admission-plugins, --disable-admission-plugins",
  "kubernetes.kubeAPIServer.apiAudiences": "--api-audiences",
  "kubernetes.kubeAPIServer.serviceAccountConfig.issuer": "--service-account-issuer",
  "kubernetes.kubeAPIServer.serviceAccountConfig.extendTokenExpiration": "--service-account-extend-token-expiration",
  "kubernetes.kubeAPIServer.serviceAccountConfig.maxTokenExpiration": "--service-account-max-token-expiration",
  "kubernetes.kubeAPIServer.encryptionConfig": "--encryption-provider-config",
  "kubernetes.kubeAPIServer.tlsMinVersion": "--tls-min-version",
  "kubernetes.kubelet.seccompDefault": "KubeletConfiguration",
  "kubernetes.kubelet.protectKernelDefaults": "KubeletConfiguration",
  "provider.workers[].kubernetes.kubelet.seccompDefault": "KubeletConfiguration",
  "provider.workers[].kubernetes.kubelet.protectKernelDefaults": "KubeletConfiguration",
  "provider.workers[].controlPlane.backup.credentialsRef": "gardenadm/configuration/backup.ts",
  "provider.workers[].controlPlane.exposure": "components/on-nodes/exposure.ts",
  "provider.workersSettings.sshAccess": "components/node/ssh-access.ts",
  "provider.workers[].caBundle": "components/node/root-certificates.ts",
  "provider.workers[].sysctls": "components/node/kernel-settings.ts",
  "provider.workers[].volume.encrypted": "Worker, the provider's extension",
  "provider.workers[].dataVolumes[].encrypted": "Worker, the provider's extension",
};

const sounds =
  /auth(?!or)|authoriz|audit|anonym|encrypt|tls|issuer|audience|kubeconfig|secret|credential|ssh|exposure|seccomp|admission|oidc|protect|verif|caBundle|sysctl|token|rotat|accessR/i;

test("every field of a Shoot that sounds of security is acted on, or refused", () => {
  const refused = unsupportedFields.map(({ path }) => path);
  const isRefused = (field: string) =>
    refused.some((path) => field === path || field.startsWith(`${path}.`) || path.startsWith(`${field}.`));
  const fields = securityFields(specSchema(), "");
  expect(fields.length).toBeGreaterThan(30);
  expect(fields.filter((field) => !isRefused(field) && actedOn[field] === undefined)).toEqual([]);
  expect(Object.keys(actedOn).filter((field) => !fields.includes(field))).toEqual([]);
});

test.each(unsupportedFields.map((field) => [field.path, field] as const))(
  "%s is refused, with a remedy",
  (path, field) => {
    const value = [{ any: "thing" }, false, true, "some", ["some"]].find((one) => field.asksForMore?.(one) ?? true);
    const shoot = shootWith(path, value);
    const [cause, ...others] = unsupportedCauses(shoot, undefined);
    expect(others).toEqual([]);
    expect(cause).toEqual({
      field: `spec.${path.replaceAll("[]", "[0]")}`,
      message: `is not supported: ${field.remedy}`,
    });
    expect(unsupportedCauses(shoot, shoot)).toEqual([]);
  },
);

test.each([
  ["kubernetes.kubeAPIServer.enableAnonymousAuthentication", false],
  ["kubernetes.kubeAPIServer.serviceAccountConfig.acceptedIssuers", []],
])("%s may be %j, which is how it is anyway", (path, value) => {
  expect(unsupportedCauses(shootWith(path, value), undefined)).toEqual([]);
});

test("a plugin of which only the name is given is not refused", () => {
  const spec = { kubernetes: { kubeAPIServer: { admissionPlugins: [{ name: "AlwaysPullImages" }] } } };
  expect(unsupportedCauses({ spec } as unknown as Shoot, undefined)).toEqual([]);
});

/** A Shoot that has this value, and nothing else. */
function shootWith(path: string, value: unknown): Shoot {
  const spec = path
    .replaceAll("[]", ".[]")
    .split(".")
    .reduceRight<unknown>((inner, step) => (step === "[]" ? [inner] : { [step]: inner }), value);
  return { spec } as Shoot;
}

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

function specSchema(): Node {
  const { spec } = toCustomResourceDefinition(Shoot) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: Node } }[] };
  };
  return spec.versions[0]?.schema.openAPIV3Schema.properties?.["spec"] ?? {};
}

function securityFields({ properties = {} }: Node, prefix: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    ...(sounds.test(name) ? [`${prefix}${name}`] : []),
    ...(field.items ? securityFields(field.items, `${prefix}${name}[].`) : securityFields(field, `${prefix}${name}.`)),
  ]);
}
