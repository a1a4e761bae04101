import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { KubeObject, OperatingSystemConfig } from "../../../src/api/index.ts";
import {
  answerWith,
  defineControlPlaneWebhook,
  flagOf,
  mutate,
  webhookConfiguration,
  withoutFlag,
  withoutListed,
  withContainer,
} from "../../../src/extension/index.ts";
import type { ControlPlaneWorkload } from "../../../src/extension/webhook/objects.ts";
import { providerWebhook } from "../../support/provider-webhook.ts";

const files = [
  "kube-apiserver",
  "kube-apiserver-service",
  "kube-controller-manager",
  "kube-scheduler",
  "etcd",
  "operating-system-config",
];

describe("a control-plane webhook, against the golden control plane", () => {
  test("adds flags, words of lists, environment, volumes and sidecars", async () => {
    const apiServer = await mutated<ControlPlaneWorkload>("kube-apiserver", "Deployment");
    const [server = { name: "" }] = apiServer.spec.template.spec.containers;
    expect(flagOf(server, "feature-gates")).toBe("InTreePluginUnregister=true");
    expect(flagOf(server, "enable-admission-plugins")).toBe(
      "NodeRestriction,PodNodeSelector,PersistentVolumeClaimResize",
    );
    const manager = await mutated<ControlPlaneWorkload>("kube-controller-manager", "Deployment");
    const { containers, volumes } = manager.spec.template.spec;
    expect(manager.spec.replicas).toBe(2);
    expect(containers.map(({ name }) => name)).toEqual(["kube-controller-manager", "proxy"]);
    expect(containers[0]?.env).toEqual([{ name: "REGION", value: "unknown" }]);
    expect(containers[0]?.volumeMounts).toContainEqual({
      name: "cloud-config",
      mountPath: "/etc/cloud",
      readOnly: true,
    });
    expect(volumes).toContainEqual({ name: "cloud-config", secret: { secretName: "cloud-provider-config" } });
  });

  test("changes the claim of etcd's volume, and annotates the load balancer", async () => {
    const etcd = await mutated<ControlPlaneWorkload>("etcd", "StatefulSet");
    expect(etcd.spec.volumeClaimTemplates?.[0]?.spec).toEqual({
      accessModes: ["ReadWriteOnce"],
      storageClassName: "fast",
      resources: { requests: { storage: "25Gi" } },
    });
    const service = await mutated("kube-apiserver-service", "Service");
    expect(service.metadata.annotations).toEqual({ "cloud.example.org/load-balancer": "network" });
  });

  test("gives the kubelet a flag in its only ExecStart", async () => {
    const { units = [] } = (await machineConfigs())[1]?.spec ?? {};
    const unit = units.find(({ name }) => name === "kubelet.service")?.content ?? "";
    expect(unit.match(/^ExecStart=/gm)).toHaveLength(1);
    expect(/^ExecStart=(?:.*\\\n)*.*$/m.exec(unit)?.[0]).toMatch(/ --cloud-provider=external$/);
    expect(units.at(-1)?.name).toBe("cloud.service");
  });

  test("changes the kubelet's configuration, and adds files", async () => {
    const { files: written = [] } = (await machineConfigs())[1]?.spec ?? {};
    const file = written.find(({ path }) => path === "/var/lib/kubelet/config/kubelet");
    expect(parse(file?.content.inline?.data ?? "")).toMatchObject({ protectKernelDefaults: true, maxPods: 50 });
    expect(written.at(-1)?.path).toBe("/etc/cloud");
  });

  test("leaves the configuration that machines boot with alone", async () => {
    expect((await machineConfigs())[0]).toEqual((await golden("operating-system-config"))[0]);
  });

  test.for(files)("leaves what it has changed in %s as it is when it is asked again", async (file) => {
    const once = await mutatedAll(file);
    expect(await Promise.all(once.map((object) => mutate(providerWebhook, object)))).toEqual(once);
  });

  test("takes flags and words of lists away", async () => {
    const bare = defineControlPlaneWebhook({
      name: "bare",
      provider: { seed: "aws" },
      mutate: {
        "kube-apiserver": (deployment) =>
          withContainer(deployment, "kube-apiserver", (container) =>
            withoutListed(withoutFlag(container, "profiling"), "enable-admission-plugins", "PodNodeSelector"),
          ),
      },
    });
    const deployment = (await golden("kube-apiserver")).find(({ kind }) => kind === "Deployment");
    const changed = await mutate(bare, deployment as ControlPlaneWorkload);
    const [container = { name: "" }] = changed.spec.template.spec.containers;
    expect(flagOf(container, "profiling")).toBeUndefined();
    expect(flagOf(container, "enable-admission-plugins")).toBe("NodeRestriction");
  });

  test("says which container is not there", async () => {
    const wrong = {
      mutate: { "kube-scheduler": (one: ControlPlaneWorkload) => withContainer(one, "other", (c) => c) },
    };
    const deployment = (await golden("kube-scheduler")).find(({ kind }) => kind === "Deployment");
    await expect(mutate(wrong, deployment as KubeObject)).rejects.toThrow(
      "cannot change container other of Deployment kube-scheduler: there is none",
    );
  });
});

describe("an answer", () => {
  const answer = answerWith(providerWebhook, { read: async () => undefined });
  const request = {
    uid: "1",
    operation: "UPDATE",
    kind: { group: "apps", version: "v1", kind: "x" },
    userInfo: {},
  } as const;

  test("keeps the claims of an etcd that is there: they cannot change", async () => {
    const object = (await golden("etcd")).find(
      ({ metadata, kind }) => kind === "StatefulSet" && metadata.name === "etcd-main",
    );
    expect(await answer({ ...request, object: object as KubeObject, oldObject: object as KubeObject })).toEqual({
      allowed: true,
      patch: [],
    });
    expect(await answer({ ...request, operation: "CREATE", object: object as KubeObject })).toMatchObject({
      patch: [{ op: "replace", path: "/spec" }],
    });
  });

  test("lets everything else pass as it is", async () => {
    const object = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "kube-apiserver" } };
    expect(await answer({ ...request, object })).toEqual({ allowed: true });
  });
});

test("the configuration is for what the webhook changes, in its provider's namespaces, and fails closed", () => {
  const { webhooks } = webhookConfiguration(providerWebhook, {
    caBundle: "pem",
    url: "https://127.0.0.1/",
  }) as unknown as {
    webhooks: { name: string; failurePolicy: string; namespaceSelector: object; rules: { resources: string[] }[] }[];
  };
  expect(webhooks.flatMap(({ rules }) => rules.flatMap(({ resources }) => resources))).toEqual([
    "deployments",
    "services",
    "statefulsets",
    "operatingsystemconfigs",
  ]);
  for (const { failurePolicy, namespaceSelector } of webhooks) {
    expect(failurePolicy).toBe("Fail");
    expect(namespaceSelector).toEqual({ matchLabels: { "shoot.gardener.cloud/provider": "local" } });
  }
});

async function golden(name: string): Promise<KubeObject[]> {
  const text = await readFile(new URL(`../components/golden/${name}.yaml`, import.meta.url), "utf8");
  return parseAllDocuments(text).map((document) => document.toJS() as KubeObject);
}

const mutatedAll = async (name: string) =>
  await Promise.all((await golden(name)).map((object) => mutate(providerWebhook, object)));

const machineConfigs = async () => (await mutatedAll("operating-system-config")) as unknown as OperatingSystemConfig[];

async function mutated<T extends KubeObject>(name: string, kind: string): Promise<T> {
  const found = (await mutatedAll(name)).find((object) => object.kind === kind);
  return (found ?? expect.fail(`${name} has no ${kind}`)) as T;
}
