import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { certificatesOf, lastingSecrets } from "../../../src/activities/secrets/plan.ts";
import { isReservedName } from "../../../src/activities/state/reserved-names.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

test("every Secret and ConfigMap that a component makes, mounts or refers to has a name that no other seed can provide", () => {
  const used = goldenDocuments().flatMap(namesIn);
  expect(used.length).toBeGreaterThan(100);
  expect([...new Set(used)].filter((name) => !isReservedName(name) && !ofTheShoot.has(name))).toEqual([]);
});

test("so has every certificate, key and authority of a control plane", () => {
  const context = exampleContext({
    managesResources: true,
    tunnel: true,
    machines: { managerReplicas: 1, deployments: [] },
  });
  const names = [...certificatesOf(context).map(({ name }) => name), ...lastingSecrets];
  expect(names.filter((name) => !isReservedName(name))).toEqual([]);
});

test.each(["ca-bundle-1a2b3c4d", "generic-token-kubeconfig-1a2b3c4d", "ref-x", "shoot-access-x", "managedresource-x"])(
  "%s is reserved",
  (name) => expect(isReservedName(name)).toBe(true),
);

test.each(["ca-provider-aws-controlplane-1a2b3c4d", "extension-shoot-cert-service-issuer-a", "x", "kubernetes"])(
  "an extension may call its own %s",
  (name) => expect(isReservedName(name)).toBe(false),
);

/** In the Shoot's own cluster, where no ShootState is restored. */
const ofTheShoot = new Set(["coredns"]);

const goldens = join(import.meta.dirname, "../components/golden");

const goldenDocuments = (): unknown[] =>
  readdirSync(goldens).flatMap((file) =>
    parseAllDocuments(readFileSync(join(goldens, file), "utf8")).map((document) => document.toJS() as unknown),
  );

function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  const fields = value as Readonly<Record<string, unknown>>;
  const { kind, metadata, secretName } = fields as {
    kind?: unknown;
    metadata?: { name?: unknown };
    secretName?: unknown;
  };
  const referred = referring.map((field) => (fields[field] as { name?: unknown } | undefined)?.name);
  const own = kind === "Secret" || kind === "ConfigMap" ? [metadata?.name] : [];
  const named = [...own, ...referred, secretName].filter((name) => typeof name === "string");
  return [...named, ...Object.values(fields).flatMap(namesIn)];
}

const referring = ["secret", "configMap", "secretRef", "configMapRef", "secretKeyRef", "configMapKeyRef"];
