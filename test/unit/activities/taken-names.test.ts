import { expect, test } from "vitest";
import { listedShoots } from "../../../src/activities/shoot/garden-shoots.ts";
import { findTakenName } from "../../../src/activities/shoot/taken-names.ts";
import { DomainReservation, Shoot, type KubeObject } from "../../../src/api/index.ts";
import { typeMeta } from "../../../src/kube/index.ts";
import { keepObjects } from "../../support/kept-objects.ts";

const namespace = "garden-dev";

const shoot = (name: string, domain?: string, more: Partial<Shoot> = {}): Shoot =>
  ({
    ...typeMeta(Shoot),
    metadata: { namespace, name, ...more.metadata },
    spec: { ...(domain && { dns: { domain } }) },
    ...(more.status && { status: more.status }),
  }) as Shoot;

const reservation = (domain: string, name: string, creationTimestamp: string): DomainReservation => ({
  ...typeMeta(DomainReservation),
  metadata: { name: domain, creationTimestamp },
  spec: { domain, shootRef: { namespace, name } },
});

const taken = async (own: Shoot, ...others: KubeObject[]) => {
  const { client } = keepObjects(own, ...others);
  return await findTakenName(client, own, { project: "dev", shoots: listedShoots(client) });
};

const begun = { status: { technicalID: "shoot--dev--any" } } as Partial<Shoot>;

test("of two Shoots whose domains overlap, neither begins, and each names the other", async () => {
  const [one, two] = [shoot("one", "example.com"), shoot("two", "a.example.com")];
  expect(await taken(one, two)).toBe(
    "spec.dns.domain: example.com overlaps with the domain of Shoot garden-dev/two: delete one of the two, and create it with another domain",
  );
  expect(await taken(two, one)).toContain("a.example.com overlaps with the domain of Shoot garden-dev/one");
});

test("a Shoot that has begun keeps its domain, and one that comes later does not begin", async () => {
  const [first, later] = [shoot("first", "example.com", begun), shoot("later", "example.com")];
  expect(await taken(first, later)).toBeUndefined();
  expect(await taken(later, first)).toContain("Shoot garden-dev/first");
});

test("a Shoot of another project is not named, and one whose domain only lies above or below keeps none from beginning", async () => {
  const theirs = (domain: string) =>
    ({ ...shoot("theirs", domain), metadata: { namespace: "garden-other", name: "theirs" } }) as Shoot;
  expect(await taken(shoot("one", "example.com"), theirs("example.com"))).toContain("of another project's Shoot");
  expect(await taken(shoot("one", "example.com"), theirs("a.example.com"))).toBeUndefined();
});

test("a Shoot that is being deleted, without a domain, or alone is not kept from beginning", async () => {
  const two = shoot("two", "example.com");
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const leaving = shoot("one", "example.com", { metadata: { namespace, name: "one", deletionTimestamp } });
  expect(await taken(leaving, two)).toBeUndefined();
  expect(await taken(shoot("one"), two)).toBeUndefined();
  expect(await taken(two)).toBeUndefined();
});

test("a domain that is reserved for another is taken, unless the own reservation is older", async () => {
  const [early, late] = ["2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"];
  const one = shoot("one", "example.com");
  expect(await taken(one, reservation("a.example.com", "two", early))).toContain("Shoot garden-dev/two");
  const own = reservation("example.com", "one", early);
  expect(await taken(one, own, reservation("a.example.com", "two", late))).toBeUndefined();
  const younger = reservation("example.com", "one", late);
  expect(await taken(one, younger, reservation("a.example.com", "two", early))).toContain("Shoot garden-dev/two");
});

test("of two Shoots with one technical ID, neither begins", async () => {
  const one = shoot("twin");
  const twin: Shoot = { ...shoot("twin"), metadata: { namespace: "dev", name: "twin" } };
  expect(await taken(one, twin)).toBe(
    "metadata.name: Shoot dev/twin has the same technical ID, shoot--dev--twin: delete one of the two, and create it under another name",
  );
  expect(await taken({ ...one, ...begun }, twin)).toBeUndefined();
});
