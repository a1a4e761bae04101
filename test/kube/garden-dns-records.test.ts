import { afterAll, expect } from "vitest";
import { DNSRecord, Project, type KubeObject } from "../../src/api/index.ts";
import { PROJECT_NAME_LABEL, ROLE_LABEL } from "../../src/api/labels.ts";
import { Namespace, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { readManifest } from "../../src/manifests.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import { createGardenProvider } from "../../src/provider-local/garden.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startNameServer } from "../support/name-server.ts";
import { startTenant } from "../support/tenant.ts";

/* A user of a garden who has all rights in the own project's namespace, and none elsewhere. */
const test = ownClusterTest({ crds: true });
const own = "garden-evil";
const leadershipDomain = { name: "leadership-domain", namespace: "garden" };
let client: KubeClient;
let user: KubeClient;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  for (const [name, project] of Object.entries({ "garden-ops": "ops", [own]: "evil" })) {
    const labels = { [ROLE_LABEL]: "project", [PROJECT_NAME_LABEL]: project };
    await client.apply({ ...typeMeta(Namespace), metadata: { name, labels } });
    await client.apply({ ...typeMeta(Project), metadata: { name: project }, spec: { namespace: name } });
  }
  await client.apply({ ...typeMeta(Namespace), metadata: { name: "garden" } });
  for (const namespace of ["garden", own])
    await client.apply({ ...typeMeta(Secret), metadata: { ...leadershipDomain, namespace }, data: {} });
  for (const object of await readManifest("garden/dns-records.yaml")) await client.apply(object);
  user = await startTenant(cluster, { namespace: own, name: "user" });
});
afterAll(async () => await user.close());

const record = (name: string, secretRef: DNSRecord["spec"]["secretRef"]): DNSRecord => ({
  ...typeMeta(DNSRecord),
  metadata: { name, namespace: own },
  spec: {
    ...{ type: "rfc2136", class: "garden", recordType: "TXT", values: ["Seed=seed-evil"], secretRef },
    name: "crazy.ops.perennial.test",
  },
});

test("who may not read the leadership domain's Secret has no DNSRecord written with it, old or new", async () => {
  await eventually(async () => {
    await expect(user.create(record("stolen", leadershipDomain), { dryRun: true })).rejects.toThrow(
      "spec.secretRef: you may not read Secret garden/leadership-domain: name one of namespace garden-evil",
    );
  });
  await user.create(record("own", { ...leadershipDomain, namespace: own }));
  await expect(
    user.patch(refTo(DNSRecord, { namespace: own, name: "own" }), { spec: { secretRef: leadershipDomain } }),
  ).rejects.toThrow("you may not read Secret garden/leadership-domain");
});

test("the leadership record of the user's own Shoot gets no other leader from the user", async () => {
  await client.create(record("mine-leadership", leadershipDomain));
  const mine = refTo(DNSRecord, { namespace: own, name: "mine-leadership" });
  await expect(user.patch(mine, { spec: { values: ["Seed=seed-2"] } })).rejects.toThrow(
    "you may not read Secret garden/leadership-domain",
  );
  await user.patch(mine, { metadata: { annotations: { note: "unchanged" } } });
});

test("with the key of the leadership records nothing is written but who leads the Shoots of the DNSRecord's own project", async () => {
  const dns = await startNameServer();
  const { server, key, zone } = dns;
  const names = { Server: `${server.address}:${server.port}`, Zone: zone, TSIGKeyName: key.name };
  const data = { ...names, TSIGSecret: key.secret, TSIGSecretAlgorithm: key.algorithm };
  const labels = { [ROLE_LABEL]: "leadership-domain" };
  const secret = { ...typeMeta(Secret), metadata: { ...leadershipDomain, labels }, stringData: data };
  await client.apply<KubeObject>(secret);
  const provider = createGardenProvider({ client, log: createLogger({ name: "test", level: "silent" }) });
  await provider.start();
  const write = async (name: string, written: Partial<DNSRecord["spec"]>) => {
    const whole = record(name, leadershipDomain);
    await client.create({ ...whole, spec: { ...whole.spec, ...written } });
    let status: DNSRecord["status"];
    await eventually(async () => {
      status = (await client.read(refTo(DNSRecord, { namespace: own, name })))?.status;
      expect(status?.lastOperation?.state).toBe(status?.lastError ? "Error" : "Succeeded");
    });
    return status?.lastError?.description ?? "written";
  };
  const values = ["Seed=seed-2", "Epoch=9", "Shoot=5f0c5f5e-6a1f-4f2e-9a53-2f6c1e1b7d10"];
  const refusal = "is not the leadership record of a Shoot of project evil";
  const others = { name: `crazy.ops.${zone}`, values };
  for (const name of ["crazy-leadership", "crazy.ops-leadership", "crazy"])
    expect(await write(name, others)).toContain(refusal);
  expect(await queryRecords(server, { name: others.name, type: "TXT" })).toEqual([]);
  expect(await write("named-leadership", { name: `named.evil.${zone}`, values })).toBe("written");
  const address: Partial<DNSRecord["spec"]> = { name: `address.evil.${zone}`, recordType: "A", values: ["192.0.2.1"] };
  expect(await write("address-leadership", address)).toContain(refusal);
  await provider.stop();
  await dns.stop();
});
