import { describe, expect, test } from "vitest";
import { forceDeletionCauses, frozenCauses } from "../../../src/admission/shoot/lifecycle.ts";
import { apiServerCauses } from "../../../src/admission/shoot/api-server.ts";
import type { Shoot } from "../../../src/api/index.ts";

const force = "confirmation.gardener.cloud/force-deletion";

const deleted = (change: Partial<Shoot> = {}): Shoot => ({
  ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot" },
  metadata: { name: "late", namespace: "garden-dev", deletionTimestamp: "2026-11-28T10:00:00Z" },
  spec: { kubernetes: { version: "1.34.4" }, region: "local", provider: { type: "local" } },
  ...change,
});

describe("force", () => {
  const causesAt = (time: string, errors: number) => {
    const old = deleted({
      status: { lastErrors: Array.from({ length: errors }, () => ({ description: "it fails" })) },
    });
    const asked = { ...old, metadata: { ...old.metadata, annotations: { [force]: "true" } } };
    return forceDeletionCauses(asked, old, new Date(`2026-11-28T${time}Z`));
  };

  test("is justified by any error that a deletion has after an hour", () => {
    expect(causesAt("11:00:00", 1)).toEqual([]);
  });

  test("is justified neither sooner, nor by time alone", () => {
    const refusal = { message: expect.stringContaining("once it has gone on for 60 minutes") };
    expect(causesAt("10:59:59", 1)).toMatchObject([refusal]);
    expect(causesAt("12:00:00", 0)).toMatchObject([refusal]);
  });
});

describe("a Shoot that is being deleted", () => {
  const old = deleted();
  const causesOf = (change: Partial<Shoot["spec"]>) =>
    frozenCauses({ ...old, spec: { ...old.spec, ...change } }, old, true).map(({ field }) => field);
  const { kubernetes } = old.spec;

  test.each<[string, Partial<Shoot["spec"]>]>([
    ["its API server's settings", { kubernetes: { ...kubernetes, kubeAPIServer: { runtimeConfig: { a: true } } } }],
    ["its credentials", { credentialsBindingName: "other" }],
    ["its DNS provider's credentials", { dns: { providers: [{ type: "local", secretName: "other" }] } }],
    ["what its extensions refer to", { resources: [] }],
  ])("can be mended in %s", (_, change) => expect(causesOf(change)).toEqual([]));

  test.each<[string, Partial<Shoot["spec"]>]>([
    ["version of Kubernetes", { kubernetes: { version: "1.35.0" } }],
    ["encryption", { kubernetes: { ...kubernetes, kubeAPIServer: { encryptionConfig: { resources: ["pods"] } } } }],
    ["domain", { dns: { domain: "other.example.com" } }],
    ["Seed", { seedName: "other" }],
    ["workers", { provider: { type: "local", workers: [] } }],
    ["extensions", { extensions: [{ type: "other" }] }],
  ])("keeps its %s", (_, change) => expect(causesOf(change)).toEqual(["spec"]));
});

test.each([
  ["", false],
  ["http://issuer.example.com", false],
  ["https:// no", false],
  ["https://issuer.example.com", true],
  ["issuer", true],
])("an issuer %j with which an API server starts: %s", (issuer, starts) => {
  const kubeAPIServer = { serviceAccountConfig: { issuer } };
  const shoot = deleted({ spec: { ...deleted().spec, kubernetes: { version: "1.34.4", kubeAPIServer } } });
  expect(apiServerCauses(shoot).length === 0).toBe(starts);
});
