import { expect } from "vitest";
import { DomainReservation, Shoot, type KubeObject, type Seed } from "../../src/api/index.ts";
import { refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { exampleObjects } from "../support/examples.ts";

let client: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  client = admissionLab.client;
  const seed = (await exampleObjects()).find(({ kind }) => kind === "Seed") as Seed;
  const { internal, defaults } = seed.spec.dns;
  const dns = {
    ...seed.spec.dns,
    ...(internal && { internal: { ...internal, domain: "internal.elsewhere.test" } }),
    ...(defaults && { defaults: defaults.map((one) => ({ ...one, domain: "elsewhere.test" })) }),
  };
  const ingress = { domain: "apps.elsewhere.example", controller: { kind: "nginx" } };
  await client.apply({ ...seed, metadata: { name: "seed-3" }, spec: { ...seed.spec, dns, ingress } });
  for (const name of ["dev", "garden", "garden-leadership", "other"])
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await client.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "any-name",
      namespace: "garden",
      labels: { "gardener.cloud/role": "leadership-domain" },
      annotations: { "dns.gardener.cloud/domain": "leadership.perennial.test" },
    },
  });
});

test.each([
  ["its own name below a default domain", "a", "a.dev.perennial.test"],
  ["its own name below the default domain of a Seed that it is not on", "b", "b.dev.elsewhere.test"],
  ["a domain of the user's", "c", "c.example.com"],
])("a Shoot may have %s", async (_, name, domain) => {
  await expect(client.create(await shoot(name, domain), { dryRun: true })).resolves.toBeDefined();
});

const ownOnly = "is below default domain perennial.test, where this Shoot may have x.dev.perennial.test only";
const reserved = "is reserved";

test.each([
  ["another Shoot's name below a default domain", "victim.dev.perennial.test", ownOnly],
  ["another project's name below a default domain", "x.other.perennial.test", ownOnly],
  ["what is below its own name", "a.x.dev.perennial.test", ownOnly],
  ["a default domain itself", "perennial.test", reserved],
  ["a domain that holds a default domain", "test", reserved],
  ["another Shoot's internal name", "victim.dev.internal.perennial.test", reserved],
  ["its own internal name", "x.dev.internal.perennial.test", reserved],
  ["the internal domain", "internal.perennial.test", reserved],
  ["the internal domain of a Seed that it is not on", "x.dev.internal.elsewhere.test", reserved],
  ["a Shoot's leadership record", "victim.dev.leadership.perennial.test", reserved],
  ["the leadership domain", "leadership.perennial.test", reserved],
  ["the ingress domain of a Seed that it is not on", "apps.elsewhere.example", reserved],
  ["a name below an ingress domain", "x.dev.apps.elsewhere.example", reserved],
  ["a domain that holds an ingress domain", "elsewhere.example", reserved],
  ["a domain in capitals", "VICTIM.dev.perennial.test", "spec.dns.domain"],
  ["a domain with a dot at its end", "victim.dev.perennial.test.", "spec.dns.domain"],
  ["a wildcard", "*.example.com", "spec.dns.domain"],
  ["two domains", "a.example.com\nb.example.com", "spec.dns.domain"],
])("a Shoot may not have %s", async (_, domain, message) => {
  await expect(client.create(await shoot("x", domain), { dryRun: true })).rejects.toThrow(message);
});

test("a Shoot of a project that bears the name of a reserved domain is not given the reserved name", async () => {
  const object = await shoot("x", "x.leadership.perennial.test", "garden-leadership");
  await expect(client.create(object, { dryRun: true })).rejects.toThrow(reserved);
});

test("a domain is neither changed nor taken away to be set anew", async () => {
  await client.create(await shoot("kept", "kept.example.com"));
  const ref = refTo(Shoot, { namespace: "garden-dev", name: "kept" });
  await expect(client.patch(ref, { spec: { dns: { domain: "other.example.com" } } })).rejects.toThrow("cannot be");
  await expect(client.patch(ref, { spec: { dns: { domain: null } } })).rejects.toThrow("cannot be");
  await expect(client.patch(ref, { spec: { dns: null } })).rejects.toThrow("cannot be");
  await expect(client.patch(ref, { spec: { networking: null } })).rejects.toThrow("cannot be");
});

test("two Shoots of a project cannot have overlapping domains, even if one is written twice", async () => {
  await client.create(await shoot("first", "shared.example.com"));
  await expect(client.create(await shoot("second", "a.shared.example.com"), { dryRun: true })).rejects.toThrow(
    "overlaps with the domain of another Shoot",
  );
  await expect(client.create(await shoot("second", "example.com"), { dryRun: true })).rejects.toThrow("overlaps");
});

test("a domain that one project takes, by a Shoot or by a reservation, keeps what is above and below it from no other project", async () => {
  await client.create(await shoot("greedy", "co.uk"));
  await client.create(reservation("org.uk", "greedy-too"));
  for (const domain of ["bakery.co.uk", "bakery.org.uk", "uk"]) {
    const theirs = await shoot("theirs", domain, "other");
    await expect(client.create(theirs, { dryRun: true })).resolves.toBeDefined();
  }
  const { metadata, spec } = reservation("shop.co.uk", "shop");
  const made = {
    ...typeMeta(DomainReservation),
    metadata,
    spec: { ...spec, shootRef: { namespace: "other", name: "shop" } },
  };
  await expect(client.create(made, { dryRun: true })).resolves.toBeDefined();
  await expect(client.create(reservation("shop.org.uk", "shop"))).rejects.toThrow("overlaps");
});

test.each(["co.jp", "api.co.jp", "a.api.co.jp", "ingress.co.jp", "a.b.ingress.co.jp"])(
  "a Shoot of another project has neither the domain of a Shoot nor a name at which that Shoot has records: %s",
  async (domain) => {
    await client.apply(await shoot("japan", "co.jp"));
    await expect(client.create(await shoot("theirs", domain, "other"), { dryRun: true })).rejects.toThrow(
      "overlaps with the domain of another Shoot",
    );
  },
);

test("a user of a project has no right to reserve a domain", async ({ admissionLab: { alice } }) => {
  await expect(alice.create(reservation("mine.example.org", "mine"))).rejects.toThrow("cannot create resource");
});

test("two namespaces that count as one project do not give two Shoots one name", async () => {
  await client.create(await shoot("twin", "twin.example.com"));
  const twin = await shoot("twin", "twin-too.example.com", "dev");
  await expect(client.create(twin, { dryRun: true })).rejects.toThrow(
    "metadata.name: Shoot garden-dev/twin has the same technical ID, shoot--dev--twin",
  );
});

test("a Shoot's name is one DNS label, so that it is no name below another Shoot's", async () => {
  await expect(client.create(await shoot("a.kept", "dotted.example.com"), { dryRun: true })).rejects.toThrow(
    "metadata.name: must be a DNS label",
  );
});

test("a domain that is reserved for a Shoot is refused to every other Shoot, and to those of its project also below it", async () => {
  await client.create(reservation("kept-free.example.com", "heir"));
  const refused = "overlaps with a domain that is reserved for another Shoot: choose another";
  for (const domain of ["kept-free.example.com", "a.kept-free.example.com"])
    await expect(client.create(await shoot("thief", domain), { dryRun: true })).rejects.toThrow(refused);
  const namesake = await shoot("heir", "kept-free.example.com", "dev");
  await expect(client.create(namesake, { dryRun: true })).rejects.toThrow(refused);
  const heir = await shoot("heir", "kept-free.example.com");
  await expect(client.create(heir, { dryRun: true })).resolves.toBeDefined();
});

test("a domain is reserved once, and as its Shoot may have it", async () => {
  await client.create(await shoot("settler", "settled.example.com"));
  await client.create(reservation("once.example.net", "one"));
  const theirs = "overlaps with a domain that is reserved for Shoot garden-dev/one";
  for (const domain of ["once.example.net", "a.once.example.net", "example.net"])
    await expect(client.create(reservation(domain, "two"))).rejects.toThrow(theirs);
  const settled = "overlaps with the domain of Shoot garden-dev/settler";
  await expect(client.create(reservation("settled.example.com", "two"))).rejects.toThrow(settled);
  await expect(client.create(reservation("internal.perennial.test", "two"))).rejects.toThrow(reserved);
  const foreign = "where this Shoot may have two.dev.perennial.test only";
  await expect(client.create(reservation("one.dev.perennial.test", "two"))).rejects.toThrow(foreign);
  const other = { ...reservation("a.example.org", "two"), metadata: { name: "b.example.org" } };
  await expect(client.create(other)).rejects.toThrow("metadata.name must be spec.domain");
  const ref = refTo(DomainReservation, { name: "once.example.net" });
  await expect(client.patch(ref, { spec: { shootRef: { name: "two" } } })).rejects.toThrow("cannot be changed");
});

test("of reservations of one domain that are written at once, one is made", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const all = await Promise.allSettled(names.map((name) => client.create(reservation("rush.example.org", name))));
  expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

const reservation = (domain: string, name: string): DomainReservation => ({
  ...typeMeta(DomainReservation),
  metadata: { name: domain },
  spec: { domain, shootRef: { namespace: "garden-dev", name } },
});

async function shoot(name: string, domain: string, namespace = "garden-dev"): Promise<KubeObject> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const { credentialsBindingName: _, seedName: __, ...spec } = example.spec;
  const { workers: ___, ...provider } = spec.provider;
  const { networking: ____, ...workerless } = spec;
  const networking = name === "kept" ? { networking: spec.networking } : {};
  return {
    ...example,
    metadata: { name, namespace },
    spec: { ...workerless, ...networking, provider, dns: { domain } },
  };
}
