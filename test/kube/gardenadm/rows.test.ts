import { afterAll, describe, expect } from "vitest";
import { manifestsIn } from "../../../src/activities/installation/managed-resource.ts";
import {
  CloudProfile,
  ControllerDeployment,
  ControlPlane,
  ManagedResource,
  Project,
  Shoot,
  type KubeObject,
} from "../../../src/api/index.ts";
import type { Configuration } from "../../../src/gardenadm/configuration/configuration.ts";
import { createReconcileActions } from "../../../src/gardenadm/reconcile/actions.ts";
import { createReflector, Deployment, refOf, Secret, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { reconcileSelfHosted } from "../../../src/workflows/reconcile-self-hosted.ts";
import { startStandIns } from "../../../bench/stand-ins.ts";
import { findBinary } from "../../support/binary.ts";
import { packageChart } from "../../support/charts.ts";
import { extendingTest as test } from "../../support/cluster-test.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";

// What rows of the table do in a cluster that carries its own control plane, and where: its workloads roll out as soon as they are there.

const scope = { signal: new AbortController().signal, tell: () => {} };
const parts: { stop(): Promise<unknown> }[] = [];
let client: KubeClient;
let row: (step: keyof Rows) => Promise<void>;

type Rows = Record<"resourceManager" | "extensions" | "resourceManagerInPods" | "extensionsInPods" | "controlPlane", 1>;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  const carryOut = createReconcileActions({
    ...{ client, configuration: await configurationWithChart(), machine: { root: "/nowhere", hostName: "a" } },
    run: { podNetworkMissing: true, hasKubeProxy: true, offered: ["Network"], hasBackup: false },
    readContext: async () => ({ ...selfHostedContext(["a"]), authority: "CERTIFICATE" }),
    ...{ helm: await findBinary("helm"), uid: "uid" },
  });
  row = async (step) => {
    const { do: action } = reconcileSelfHosted.steps.get(step) ?? expect.fail(`there is no row ${step}`);
    await carryOut(action, scope);
  };
  await carryOut({ verb: "call", activity: "defineKinds" }, scope);
  await carryOut({ verb: "call", activity: "prepareNamespaces" }, scope);
  parts.push(await startStandIns(client), applying(client));
});

afterAll(async () => void (await Promise.all(parts.map(async (part) => await part.stop()))));

describe("before there is a pod network", () => {
  test("row resourceManager puts both resource managers on the host's network, each at ports of its own", async () => {
    await row("resourceManager");
    const managers = await resourceManagers();
    expect(managers.map(({ hostNetwork }) => hostNetwork)).toEqual([true, true]);
    expect(new Set(managers.map(({ port }) => port)).size).toBe(2);
    expect(managers.map(({ server }) => server)).toEqual(["localhost", "localhost"]);
  });

  test("row extensions puts each extension on the host's network, where it finds the API server beside itself", async () => {
    await row("extensions");
    expect(await extension()).toMatchObject({ hostNetwork: true, server: "localhost" });
  });
});

describe("once there is a pod network", () => {
  test("row resourceManagerInPods takes both resource managers off the host's network", async () => {
    await row("resourceManagerInPods");
    const managers = await resourceManagers();
    expect(managers.map(({ hostNetwork, server }) => [hostNetwork, server])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  test("row extensionsInPods takes each extension off the host's network", async () => {
    await row("extensionsInPods");
    const { hostNetwork, server } = await extension();
    expect([hostNetwork, server]).toEqual([undefined, undefined]);
  });

  test("row controlPlane asks the provider for its part of the control plane, in the namespace of the cluster itself", async () => {
    await row("controlPlane");
    const [object, ...others] = await client.list(ControlPlane);
    expect(others).toEqual([]);
    expect(object).toMatchObject({
      metadata: { namespace: "kube-system", name: "example" },
      spec: { type: "local", region: "local" },
      status: { lastOperation: { state: "Succeeded" } },
    });
  });
});

interface PodMaker extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly hostNetwork?: boolean;
        readonly containers: readonly {
          readonly env?: readonly { readonly name: string; readonly value?: string }[];
          readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
        }[];
      };
    };
  };
}

/** Where a workload's pods live, and where they look for the API server unless they ask Kubernetes. */
function placeOf({ spec }: PodMaker) {
  const { hostNetwork, containers } = spec.template.spec;
  const [{ env = [], ports = [] } = expect.fail("it has no container")] = containers;
  const server = env.find(({ name }) => name === "KUBERNETES_SERVICE_HOST")?.value;
  return { hostNetwork, server, port: ports[0]?.containerPort };
}

async function resourceManagers() {
  const found = (await client.list(Deployment)).filter(({ metadata }) => metadata.name === "gardener-resource-manager");
  expect(found.map(({ metadata }) => metadata.namespace).toSorted()).toEqual(["garden", "kube-system"]);
  return found.map((object) => placeOf(object as unknown as PodMaker));
}

/** The extension's controller, as its ManagedResource has it. */
async function extension() {
  const { spec } = (await client.read(ManagedResource, key)) ?? expect.fail("the extension is not there");
  const [{ name } = expect.fail("it has no Secret")] = spec.secretRefs;
  const secret = (await client.read(Secret, { ...key, name })) ?? expect.fail(`Secret ${name} is not there`);
  const controller = (await manifestsIn(secret)).find(({ kind }) => kind === "Deployment");
  return placeOf((controller ?? expect.fail("it has no Deployment")) as unknown as PodMaker);
}

const key = { namespace: "garden", name: "provider-local" };

async function configurationWithChart(): Promise<Configuration> {
  const rawChart = await packageChart({ "templates/controller.yaml": CONTROLLER });
  const objects = exampleConfiguration().map((object) =>
    object["kind"] === "ControllerDeployment" ? deploymentOf(rawChart) : object,
  ) as unknown as KubeObject[];
  const [shoot, project, cloudProfile] = objects;
  return {
    ...{ folder: "/nowhere", objects, shoot: Shoot.parse(shoot) },
    ...{ project: Project.parse(project), cloudProfile: CloudProfile.parse(cloudProfile) },
  };
}

const deploymentOf = (chart: string) => ({
  ...typeMeta(ControllerDeployment),
  ...{ metadata: { name: "provider-local" }, type: "helm", providerConfig: { chart } },
});

const CONTROLLER = `apiVersion: apps/v1
kind: Deployment
metadata: { name: controller, namespace: "{{ .Release.Namespace }}" }
spec:
  selector: { matchLabels: { app: controller } }
  template:
    metadata: { labels: { app: controller } }
    spec: { containers: [{ name: controller, image: example.org/controller }] }
`;

/** Says of each ManagedResource that it was applied, as a resource manager does. */
function applying(kube: KubeClient) {
  const lastTransitionTime = "2026-01-01T10:00:00Z";
  const aspects = { ResourcesApplied: "True", ResourcesHealthy: "True", ResourcesProgressing: "False" };
  const conditions = Object.entries(aspects).map(([type, status]) => ({
    ...{ type, status, reason: "Test", message: "" },
    ...{ lastTransitionTime, lastUpdateTime: lastTransitionTime },
  }));
  const reflector = createReflector(kube, ManagedResource, {
    onEvent: ({ type, object }) => {
      const { generation: observedGeneration } = object.metadata;
      if (type === "deleted" || object.status?.observedGeneration === observedGeneration) return;
      const status = { observedGeneration, conditions };
      kube.patch(refOf(object), { status }, { subresource: "status" }).catch((error: unknown) => console.error(error));
    },
  });
  reflector.start();
  return reflector;
}
