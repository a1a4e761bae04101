import { describe, expect, it } from "vitest";
import { healthy, isIgnored } from "../../../src/activities/managed-resources/health.ts";
import type { KubeObject } from "../../../src/api/index.ts";

type Statuses = Readonly<Partial<Record<"ResourcesApplied" | "ResourcesHealthy" | "ResourcesProgressing", string>>>;

const managed = (statuses: Statuses, observedGeneration = 2): KubeObject => ({
  apiVersion: "resources.gardener.cloud/v1alpha1",
  kind: "ManagedResource",
  metadata: { name: "calico", namespace: "shoot--dev--local", generation: 2 },
  status: {
    observedGeneration,
    conditions: Object.entries(statuses).map(([type, status]) => ({ type, status, message: "as it is" })),
  },
});
const well = { ResourcesApplied: "True", ResourcesHealthy: "True", ResourcesProgressing: "False" };

describe("a ManagedResource", () => {
  it("is healthy when its latest version is applied, healthy and rolled out", () => {
    expect(healthy(managed(well))).toEqual({ reached: true });
  });
  it("is not while the resource manager has seen an older version, or has not said everything", () => {
    expect(healthy(managed(well, 1))).toMatchObject({ message: "the resource manager has not seen the latest spec" });
    const { ResourcesProgressing: _, ...unsaid } = well;
    expect(healthy(managed(unsaid))).toMatchObject({
      message: "the resource manager has not said ResourcesProgressing",
    });
  });
  it("is not while its objects are unhealthy or roll out, which is no error", () => {
    expect(healthy(managed({ ...well, ResourcesHealthy: "False" }))).toEqual({
      reached: false,
      message: "ResourcesHealthy is False: as it is",
    });
    expect(healthy(managed({ ...well, ResourcesProgressing: "True" }))).toEqual({
      reached: false,
      message: "ResourcesProgressing is True: as it is",
    });
  });
  it("has an error when it could not be applied, and none while that goes on", () => {
    for (const generation of [1, 2])
      expect(healthy(managed({ ...well, ResourcesApplied: "False" }, generation))).toMatchObject({
        message: "ResourcesApplied is False: as it is",
        error: { codes: [] },
      });
    expect(healthy(managed({ ...well, ResourcesApplied: "Progressing" }))).not.toHaveProperty("error");
  });
  it("is ignored by the word of its annotation", () => {
    const { metadata, ...object } = managed(well);
    const annotated = (value: string) => ({
      ...object,
      metadata: { ...metadata, annotations: { "resources.gardener.cloud/ignore": value } },
    });
    expect([isIgnored(managed(well)), isIgnored(annotated("false")), isIgnored(annotated("true"))]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
