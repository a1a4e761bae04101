import { describe, expect, it } from "vitest";
import { changesOf } from "../../../src/activities/survey/differences.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";

const configMap = (metadata: Partial<KubeObject["metadata"]> = {}, rest: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace: "shoot--dev--local", ...metadata },
  data: { "config.yaml": "a: 1" },
  ...rest,
});

describe("what a write would change of an object", () => {
  it.each([
    ["another version", configMap({ resourceVersion: "2", generation: 2 }), []],
    ["a note of a wait", configMap({ annotations: { "perennial.dev/wait": "{}" } }), []],
    ["a status", configMap({}, { status: { ready: true } }), []],
    ["a label", configMap({ labels: { role: "main" } }), ["metadata.labels"]],
    ["an annotation", configMap({ annotations: { "example.com/a": "b" } }), ["metadata.annotations.example.com/a"]],
    ["a finalizer", configMap({ finalizers: ["example.com/hold"] }), ["metadata.finalizers"]],
    ["its content", configMap({}, { data: { "config.yaml": "a: 2" } }), ["data.config.yaml"]],
  ])("is told of %s: %j", (_, after, changes) => {
    expect(changesOf(configMap(), after)).toEqual(changes);
  });
});

const shoot = { metadata: { name: "local", generation: 1 }, spec: { region: "here" }, status: { technicalID: "t" } };
const seed = { metadata: { name: "seed-1" }, spec: { region: "here" }, status: { kubernetesVersion: "v1" } };
const cloudProfile = { metadata: { name: "local" }, spec: { type: "local" } };
const cluster = (change: object = {}): KubeObject => ({
  apiVersion: "extensions.gardener.cloud/v1alpha1",
  kind: "Cluster",
  metadata: { name: "shoot--dev--local" },
  spec: { shoot, seed, cloudProfile, ...change },
});
const withStatus = (status: object) => cluster({ shoot: { ...shoot, status: { ...shoot.status, ...status } } });

describe("what a write would change of a Cluster", () => {
  it.each([
    ["how an operation gets on", withStatus({ lastOperation: { type: "Reconcile", state: "Processing" } }), 0],
    ["the Shoot's conditions", withStatus({ conditions: [{ type: "EveryNodeReady" }] }), 0],
    ["the Seed's heartbeat", cluster({ seed: { ...seed, status: { ...seed.status, conditions: [{}] } } }), 0],
    ["a version", cluster({ shoot: { ...shoot, metadata: { ...shoot.metadata, resourceVersion: "2" } } }), 0],
    ["that the Shoot has failed", withStatus({ lastOperation: { type: "Reconcile", state: "Failed" } }), 1],
    ["another address", withStatus({ advertisedAddresses: [{ name: "external" }] }), 1],
    ["the Shoot's spec", cluster({ shoot: { ...shoot, spec: { region: "there" } } }), 1],
    ["the Shoot's annotations", cluster({ shoot: { ...shoot, metadata: { ...shoot.metadata, annotations: {} } } }), 1],
    ["the Seed's spec", cluster({ seed: { ...seed, spec: { region: "there" } } }), 1],
    ["the Seed's version", cluster({ seed: { ...seed, status: { kubernetesVersion: "v2" } } }), 1],
    ["the CloudProfile's spec", cluster({ cloudProfile: { ...cloudProfile, spec: { type: "other" } } }), 1],
  ])("counts %s: %j, %i", (_, after, count) => {
    expect(changesOf(cluster(), after)).toHaveLength(count);
  });
});
