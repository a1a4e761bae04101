import type { z } from "zod";
import { immutable, object } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { dnsLabel, domain } from "../schema/syntax.ts";

const shootReference = object({
  namespace: dnsLabel().describe("Namespace of the Shoot in the garden."),
  name: dnsLabel().describe("Name of the Shoot."),
});

/**
 * Keeps a domain for one Shoot, which need not exist yet. Its name is the domain, so an API server lets a domain be reserved
 * once; admission refuses one that clashes with another, and every other Shoot whose domain does.
 */
export const DomainReservation = defineResource({
  group: "perennial.dev",
  version: "v1alpha1",
  kind: "DomainReservation",
  plural: "domainreservations",
  shortNames: ["dres"],
  scope: "Cluster",
  description: "Keeps a domain for one Shoot, which need not exist yet. Its name is the domain.",
  content: {
    spec: object({
      domain: domain().describe("Domain that is reserved, and all below it for other Shoots of its project."),
      shootRef: shootReference.describe("ShootRef names the only Shoot that may have the domain."),
    }).meta(immutable()),
  },
  rules: [{ rule: "self.metadata.name == self.spec.domain", message: "metadata.name must be spec.domain" }],
  columns: [
    { name: "Namespace", path: ".spec.shootRef.namespace" },
    { name: "Shoot", path: ".spec.shootRef.name" },
  ],
});

/** Keeps a domain for one Shoot, which need not exist yet. */
export type DomainReservation = z.infer<typeof DomainReservation.schema>;

/** Whether the first of two reservations counts: they were made at once, and judged without each other. */
export const isOlder = (one: DomainReservation, other: DomainReservation): boolean => ageOf(one) < ageOf(other);

const ageOf = ({ metadata }: DomainReservation): string => `${metadata.creationTimestamp} ${metadata.name}`;
