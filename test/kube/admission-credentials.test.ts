import { expect } from "vitest";
import { CredentialsBinding, Quota, SecretBinding, type KubeObject, type Shoot } from "../../src/api/index.ts";
import { refTo, typeMeta, type KubeClient, type Secret } from "../../src/kube/index.ts";
import { admissionTest as test, refusalOf } from "../support/admission-lab.ts";
import { exampleObjects } from "../support/examples.ts";

let admin: KubeClient;
let alice: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  ({ client: admin, alice } = admissionLab);
  await admin.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden-other" } });
  for (const namespace of ["garden-dev", "garden-other"]) await admin.apply(secret(namespace, "cloud"));
  await admin.apply(quota("garden-dev", "of-dev"));
  await admin.apply(quota("garden-other", "of-other"));
});

test("a binding to a Secret that its author may read is admitted", async () => {
  await expect(alice.create(credentialsBinding("own", secretRef("garden-dev")))).resolves.toBeDefined();
  await expect(alice.create(secretBinding("own", "garden-dev"))).resolves.toBeDefined();
});

test.each([
  ["CredentialsBinding", credentialsBinding("stolen", secretRef("garden-other")), "credentialsRef"],
  ["SecretBinding", secretBinding("stolen", "garden-other"), "secretRef"],
])("a %s to a Secret that its author may not read is refused", async (_, binding, field) => {
  const refusal = alice.create(binding);
  await expect(refusal).rejects.toMatchObject({ status: 403 });
  await expect(refusal).rejects.toThrow(`${field}: you may not read Secret garden-other/cloud`);
  await expect(admin.create(binding)).resolves.toBeDefined();
});

test.each([CredentialsBinding, SecretBinding] as const)(
  "a $kind names Quotas that its author may read only, also once it exists, and while it is being deleted",
  async (kind) => {
    const { kind: name } = kind;
    const binding = (quotas: object[]) => ({
      ...(name === "SecretBinding"
        ? secretBinding("bounded", "garden-dev")
        : credentialsBinding("bounded", secretRef("garden-dev"))),
      quotas,
    });
    const ref = refTo(kind as typeof SecretBinding, { namespace: "garden-dev", name: "bounded" });
    const theirs = [{ name: "of-other", namespace: "garden-other" }];
    const refused = "quotas[0]: you may not read Quota garden-other/of-other";
    await expect(alice.create(binding(theirs))).rejects.toThrow(refused);
    await expect(alice.apply(binding(theirs))).rejects.toThrow(refused);
    await expect(alice.create(binding([{ ...theirs[0], kind: "Secret", apiVersion: "v1" }]))).rejects.toThrow(refused);
    await expect(admin.create(binding([{ name: "of-none" }]))).rejects.toThrow("there is no Quota garden-dev/of-none");
    await alice.create(binding([{ name: "of-dev" }]));
    await expect(alice.patch(ref, { quotas: theirs })).rejects.toThrow("cannot be changed");
    await admin.patch(ref, { metadata: { finalizers: ["a.b/held"] } });
    await admin.remove(ref);
    await expect(alice.patch(ref, { quotas: theirs })).rejects.toThrow("cannot be changed");
    await admin.patch(ref, { metadata: { finalizers: null } });
  },
);

test("a refusal does not tell whether the Secret exists", async () => {
  const there = await refusalOf(alice.create(credentialsBinding("probe", secretRef("garden-other", "cloud"))));
  const nowhere = await refusalOf(alice.create(credentialsBinding("probe", secretRef("garden-other", "none!"))));
  const missing = await refusalOf(alice.create(credentialsBinding("probe", secretRef("garden-other", "none"))));
  expect(String(there).replaceAll("cloud", "none")).toBe(missing);
  expect(nowhere).toContain("credentialsRef.name");
});

test("a binding to a Secret that is not there is refused to an author who may know that", async () => {
  await expect(alice.create(credentialsBinding("missing", secretRef("garden-dev", "none")))).rejects.toThrow(
    "there is no Secret garden-dev/none",
  );
});

test("a binding that left its Secret's namespace open cannot be pointed at another one later", async () => {
  const { namespace: _, ...local } = { ...secretRef("garden-dev") };
  await admin.create(credentialsBinding("open", local));
  await admin.create({ ...secretBinding("open", "garden-dev"), secretRef: { name: "cloud" } });
  for (const kind of [CredentialsBinding, SecretBinding] as const) {
    const field = kind === SecretBinding ? "secretRef" : "credentialsRef";
    const patch = admin.patch(refTo(kind as typeof SecretBinding, { namespace: "garden-dev", name: "open" }), {
      [field]: { namespace: "garden-other" },
    });
    await expect(patch).rejects.toThrow(new RegExp(`${field}: Invalid value.*cannot be changed`));
  }
});

test("the provider of a binding can be neither changed nor taken away and set anew", async () => {
  await admin.create(secretBinding("provider", "garden-dev"));
  const ref = refTo(SecretBinding, { namespace: "garden-dev", name: "provider" });
  await expect(admin.patch(ref, { provider: { type: "other" } })).rejects.toThrow("cannot be changed");
  await expect(admin.patch(ref, { provider: null })).rejects.toThrow("provider cannot be changed once it is set");
});

test.each([
  ["security.gardener.cloud/v1alpha1", "WorkloadIdentity", "this garden issues no tokens for a WorkloadIdentity"],
  ["core.gardener.cloud/v1beta1", "InternalSecret", "must be a Secret (v1)"],
  ["v1", "ConfigMap", "must be a Secret (v1)"],
])("a CredentialsBinding to a %s %s is refused by name", async (apiVersion, kind, message) => {
  const ref = { ...secretRef("garden-dev"), apiVersion, kind };
  await expect(admin.create(credentialsBinding("odd", ref))).rejects.toThrow(message);
});

test("labels of a binding from before these rules can still be changed", async ({ admissionLab }) => {
  const { metadata, ...rest } = credentialsBinding("before", secretRef("garden-other"));
  await admissionLab.client.create({ ...rest, metadata });
  const ref = refTo(CredentialsBinding, { namespace: "garden-dev", name: "before" });
  await expect(alice.patch(ref, { metadata: { labels: { a: "b" } } })).resolves.toBeDefined();
});

test("a Shoot refers to Secrets and ConfigMaps that its author may read, and to nothing else", async () => {
  const refusal = async (resourceRef: object, by = admin) =>
    refusalOf(by.create(await shootWith({ resources: [{ name: "a", resourceRef }] } as never)));
  expect(await refusal({ apiVersion: "v1", kind: "Secret", name: "cloud" })).toBe(false);
  for (const apiVersion of ["v1/../../apis/apps/v1", "v1?limit=1", "V1", "a/b/c", "v1#", "..", "v1/namespaces"])
    expect(await refusal({ apiVersion, kind: "Secret", name: "cloud" }), apiVersion).toContain("resourceRef");
  expect(await refusal({ apiVersion: "v1", kind: "Pod", name: "cloud" })).toContain("must be a Secret or a ConfigMap");
  expect(
    await refusal({ apiVersion: "security.gardener.cloud/v1alpha1", kind: "WorkloadIdentity", name: "a" }),
  ).toContain("this garden issues no tokens for a WorkloadIdentity");
  expect(await refusal({ apiVersion: "v1", kind: "ConfigMap", name: "cloud" }, alice)).toContain(
    "you may not read ConfigMap garden-dev/cloud",
  );
});

test("the credentials of a Shoot's DNS provider are a Secret that the author may read", async () => {
  const dns = (provider: object) => ({ dns: { domain: "dns.example.com", providers: [{ type: "x", ...provider }] } });
  await admin.apply(secret("garden-dev", "dns"));
  const workload = { apiVersion: "security.gardener.cloud/v1alpha1", kind: "WorkloadIdentity", name: "dns" };
  await expect(admin.create(await shootWith(dns({ credentialsRef: workload }) as never))).rejects.toThrow(
    "spec.dns.providers[0].credentialsRef: this garden issues no tokens for a WorkloadIdentity",
  );
  await expect(alice.create(await shootWith(dns({ secretName: "none" }) as never))).rejects.toThrow(
    "spec.dns.providers[0].secretName: there is no Secret garden-dev/none",
  );
  await expect(alice.create(await shootWith(dns({ secretName: "dns" }) as never))).resolves.toBeDefined();
});

function secret(namespace: string, name: string): Secret {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, type: "Opaque" };
}

function secretRef(namespace: string, name = "cloud") {
  return { apiVersion: "v1", kind: "Secret", name, namespace };
}

function credentialsBinding(name: string, credentialsRef: object): CredentialsBinding {
  return {
    apiVersion: "security.gardener.cloud/v1alpha1",
    kind: "CredentialsBinding",
    metadata: { name, namespace: "garden-dev" },
    provider: { type: "local" },
    credentialsRef,
  };
}

function secretBinding(name: string, namespace: string): SecretBinding {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "SecretBinding",
    metadata: { name, namespace: "garden-dev" },
    provider: { type: "local" },
    secretRef: { name: "cloud", namespace },
  };
}

let shoots = 0;

/** The example Shoot under a name of its own, and without what only some users may set. */
async function shootWith(spec: Partial<Shoot["spec"]>): Promise<KubeObject> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const name = `c${(shoots += 1)}`;
  const { seedName: _, ...rest } = example.spec;
  return {
    ...example,
    metadata: { name, namespace: "garden-dev" },
    spec: { ...rest, dns: { domain: `${name}.example.com` }, ...spec },
  };
}

function quota(namespace: string, name: string): KubeObject {
  const spec = { scope: { apiVersion: "core.gardener.cloud/v1beta1", kind: "Project" }, metrics: { cpu: "1" } };
  return { ...typeMeta(Quota), metadata: { name, namespace }, spec };
}
