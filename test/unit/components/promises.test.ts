import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { KubeObject } from "../../../src/api/index.ts";
import { requiredPlugins } from "../../../src/api/shoot/admission-plugins.ts";
import {
  components,
  imagesFor,
  operatingSystemConfigs,
  poolsOf,
  resourceManagerOnNodes,
  seedResourceManager,
  tokenMountWebhook,
  type ComponentName,
} from "../../../src/components/index.ts";
import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

// What Gardener promises to control-plane webhooks ("Contract: ControlPlane webhooks").

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: unknown;
}

const context = exampleContext();
const inSeed = Object.values(components).filter(({ target }) => target === "seed");
const isWorkload = ({ kind }: KubeObject): boolean => /^(Deployment|StatefulSet|DaemonSet)$/.test(kind);
const servers = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

test.for(servers)("%s is a Deployment with a container of that name, whose command is the command line", (name) => {
  const [container] = containersOf(name);
  expect(container?.name).toBe(name);
  expect(container?.command[0]).toBe(name);
  expect(container?.command.slice(1).every((flag) => /^--[a-z-]+=\S+$/.test(flag))).toBe(true);
});

test.for(servers)("%s has no flag, environment variable or volume that depends on a provider", (name) => {
  const flags = containersOf(name).flatMap(({ command }) => command.slice(1).map((flag) => flag.split("=")[0]));
  expect(flags).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^--(cloud-|configure-cloud-routes|external-cloud-volume-plugin)/)]),
  );
  expect(new Set(flags).size).toBe(flags.length);
  expect(containersOf(name).map(({ env }) => env)).toEqual([undefined]);
  expect(JSON.stringify(deploymentOf(name))).not.toMatch(/cloudprovider|cloud-provider/);
});

test("what control-plane webhooks change has the label that they select, and its pods do not", () => {
  const label = { "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook": "true" };
  const configs = poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool));
  const objects = [...inSeed.flatMap(({ objects }) => objects(context)), ...configs];
  const labelled = objects.filter(({ metadata }) => Object.keys(label).some((key) => key in (metadata.labels ?? {})));
  const names = ({ metadata }: KubeObject) => metadata.name;
  const managers = ["machine-controller-manager", "cluster-autoscaler"] as const;
  expect(labelled.map(names).toSorted()).toEqual([...servers, ...managers, ...configs.map(names)].toSorted());
  for (const { metadata } of labelled) expect(metadata.labels).toMatchObject(label);
  for (const name of [...servers, ...managers])
    expect(deploymentOf(name)).not.toMatchObject({ spec: { template: { metadata: { labels: label } } } });
});

test.for([
  [undefined, "kubernetes,gardener"],
  [["https://example.com"], "https://example.com,gardener"],
  [["gardener", "a"], "gardener,a"],
] as const)("tokens for extensions are taken where the user asks for the audiences %s", ([apiAudiences, flag]) => {
  const kubeAPIServer = apiAudiences === undefined ? {} : { apiAudiences: [...apiAudiences] };
  const { kubernetes } = context.shoot.spec;
  const shoot = exampleShoot({ kubernetes: { ...kubernetes, kubeAPIServer } });
  const deployment = components["kube-apiserver"].objects({ ...context, shoot }).find(isWorkload);
  expect(JSON.stringify(deployment)).toContain(`"--api-audiences=${flag}"`);
});

test("the pods of a control plane have Gardener's priorities, and a seed is given their classes", async () => {
  const manifest = new URL("../../../deploy/seed/priority-classes.yaml", import.meta.url);
  const classes = parseAllDocuments(await readFile(manifest, "utf8")).map((document) => document.toJS() as KubeObject);
  const values = new Map(classes.map((one) => [one.metadata.name, one["value"]]));
  expect([...values]).toEqual([
    ["gardener-system-critical", 999_998_950],
    ...[900, 800, 700, 600, 500, 400, 300, 200, 100].map((number) => [
      `gardener-system-${number}`,
      999_998_000 + number,
    ]),
  ]);
  const priorities = inSeed
    .flatMap(({ objects }) => objects(context).filter(isWorkload))
    .map(({ metadata, ...object }) => {
      const { template } = object["spec"] as { template: { spec: { priorityClassName?: string } } };
      return [metadata.name, values.get(template.spec.priorityClassName ?? "")];
    });
  expect(Object.fromEntries(priorities)).toEqual({
    "etcd-main": 999_998_500,
    "etcd-events": 999_998_500,
    "kube-apiserver": 999_998_500,
    "kube-controller-manager": 999_998_300,
    "kube-scheduler": 999_998_300,
    "gardener-resource-manager": 999_998_400,
    "machine-controller-manager": 999_998_300,
    "cluster-autoscaler": 999_998_300,
  });
});

/** The flags that the document promises, as it spells them. */
const promised: Readonly<Record<(typeof servers)[number], readonly string[]>> = {
  "kube-apiserver": [
    "--enable-admission-plugins",
    "--disable-admission-plugins",
    "--etcd-cafile",
    "--etcd-certfile",
    "--etcd-keyfile",
    "--audit-log-path",
    "--secure-port",
  ],
  "kube-controller-manager": [
    "--kubeconfig",
    "--authentication-kubeconfig",
    "--authorization-kubeconfig",
    "--leader-elect",
    "--tls-cert-file",
    "--tls-private-key-file",
    "--cluster-cidr",
    "--cluster-name",
    "--concurrent-deployment-syncs",
    "--concurrent-replicaset-syncs",
    "--horizontal-pod-autoscaler-sync-period",
    "--horizontal-pod-autoscaler-tolerance",
    "--secure-port",
  ],
  "kube-scheduler": [
    "--config",
    "--authentication-kubeconfig",
    "--authorization-kubeconfig",
    "--tls-cert-file",
    "--tls-private-key-file",
    "--secure-port",
  ],
};

/** What the document promises and Kubernetes has removed since, with the release that removed it. */
const removed = {
  "kube-apiserver": { "--insecure-port": "1.24" },
  "kube-controller-manager": { "--port": "1.24" },
  "kube-scheduler": { "--port": "1.24" },
  kubelet: { "--network-plugin": "1.24", "--cni-bin-dir": "1.24", "--cni-conf-dir": "1.24" },
} as const;

const promises = servers.flatMap((server) => promised[server].map((flag) => [server, flag] as const));

test.for(promises)("%s has %s, which webhooks leave alone", ([name, flag]) => {
  const disabled = exampleShoot({
    kubernetes: {
      version: "1.34.4",
      kubeAPIServer: { admissionPlugins: [{ name: "NamespaceAutoProvision", disabled: true }] },
    },
  });
  const wanted = exampleContext(flag === "--disable-admission-plugins" ? { shoot: disabled } : {});
  const found = components[name].objects(wanted).filter(({ kind }) => kind === "Deployment");
  expect(JSON.stringify(found)).toContain(`"${flag}=`);
});

test("kube-apiserver runs with the plugins that it needs, whatever was admitted earlier", () => {
  const disabled = [...requiredPlugins, "LimitRanger"].map((name) => ({ name, disabled: true }));
  const admissionPlugins = [...disabled, { name: "AlwaysDeny" }, { name: "AlwaysPullImages" }];
  const shoot = exampleShoot({ kubernetes: { version: "1.34.4", kubeAPIServer: { admissionPlugins } } });
  const found = components["kube-apiserver"].objects(exampleContext({ shoot }));
  const text = JSON.stringify(found.filter(({ kind }) => kind === "Deployment"));
  expect(text).toContain('"--enable-admission-plugins=NodeRestriction,AlwaysPullImages"');
  expect(text).toContain('"--disable-admission-plugins=LimitRanger"');
});

test.for(servers)("%s has no flag that Kubernetes has removed", (name) => {
  const flags = containersOf(name)[0]?.command.map((flag) => flag.split("=")[0]);
  for (const flag of Object.keys(removed[name])) expect(flags).not.toContain(flag);
});

test("Service kube-apiserver is a load balancer without annotations", () => {
  const [service] = components["kube-apiserver-service"].objects(context);
  expect(service).toMatchObject({
    kind: "Service",
    metadata: { name: "kube-apiserver" },
    spec: { type: "LoadBalancer" },
  });
  expect(service?.metadata.annotations).toBeUndefined();
});

test("the namespace tells each provider's webhooks that it is theirs", () => {
  const [namespace] = components.namespace.objects(context);
  expect(namespace?.metadata).toEqual({
    name: "shoot--dev--example",
    labels: {
      "gardener.cloud/role": "shoot",
      "seed.gardener.cloud/provider": "aws",
      "shoot.gardener.cloud/provider": "local",
      "networking.shoot.gardener.cloud/provider": "local",
      "backup.gardener.cloud/provider": "aws",
      "pod-security.kubernetes.io/enforce": "privileged",
      "high-availability-config.resources.gardener.cloud/consider": "true",
      "extensions.gardener.cloud/shoot-lakom-service": "true",
    },
    annotations: {
      "high-availability-config.resources.gardener.cloud/failure-tolerance-type": "",
      "shoot.gardener.cloud/uid": "5d8f8d8e-0000-4000-8000-000000000001",
    },
  });
});

test("the kubelet's unit has a single ExecStart without provider flags, and its configuration is a file of its own", () => {
  const config = poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool))[1];
  expect(config?.spec.purpose).toBe("reconcile");
  const unit = config?.spec.units?.find(({ name }) => name === "kubelet.service")?.content ?? "";
  expect(unit.match(/^ExecStart=/gm)).toHaveLength(1);
  const line = unit.replaceAll("\\\n", "");
  for (const flag of ["--config", "--bootstrap-kubeconfig", "--kubeconfig", "--node-labels"])
    expect(line).toContain(` ${flag}=`);
  expect(line).not.toMatch(/--(cloud-provider|cloud-config|provider-id)/);
  expect(line).not.toContain("node-role.kubernetes.io");
  const file = config?.spec.files?.find(({ path }) => path === "/var/lib/kubelet/config/kubelet");
  expect(parse(file?.content.inline?.data ?? "")).toMatchObject({
    kind: "KubeletConfiguration",
    maxPods: 50,
    evictionHard: { "memory.available": "200Mi" },
  });
});

test("the kubelet's unit has no flag that Kubernetes has removed", () => {
  const units = poolsOf(context)
    .flatMap((pool) => operatingSystemConfigs(context, pool))
    .flatMap(({ spec }) => spec.units ?? [])
    .filter(({ name }) => name === "kubelet.service");
  expect(units).not.toEqual([]);
  for (const flag of Object.keys(removed.kubelet)) expect(JSON.stringify(units)).not.toContain(flag);
});

test("no resource manager puts KUBERNETES_SERVICE_HOST into pods: none has the webhook for it, nor is one registered", () => {
  const managers = [
    ...components["resource-manager"].objects(context),
    ...seedResourceManager({ checksum: "sha256" }),
    ...resourceManagerOnNodes(selfHostedContext(), "pods"),
  ];
  const configurations = managers.flatMap(({ data }) => {
    const text = (data as Record<string, string> | undefined)?.["config.yaml"];
    return text === undefined ? [] : [parse(text) as { webhooks?: Record<string, unknown> }];
  });
  expect(configurations.map(({ webhooks = {} }) => Object.keys(webhooks).toSorted())).toEqual([
    ["projectedTokenMount", "systemComponentsConfig"],
    ["projectedTokenMount"],
    ["projectedTokenMount", "systemComponentsConfig"],
  ]);
  const registered = [...components["resource-manager-webhooks"].objects(context), tokenMountWebhook("CERTIFICATE")];
  expect(registered.length).toBeGreaterThan(1);
  expect(JSON.stringify([...managers, ...registered])).not.toMatch(/kubernetes-?service-?host/i);
});

test("a hibernated Shoot has everything and runs nothing", () => {
  const asleep = exampleContext({ shoot: exampleShoot({ hibernation: { enabled: true } }) });
  const workloads = inSeed.flatMap(({ objects }) => objects(asleep).filter(isWorkload));
  expect(workloads.length).toBeGreaterThan(4);
  for (const { metadata, spec } of workloads) expect(spec, metadata.name).toMatchObject({ replicas: 0 });
});

test("every workload in the seed is one that its roll-out waits for", () => {
  const deployed = inSeed.flatMap(({ objects }) => objects(context).filter(isWorkload));
  const awaited = inSeed.flatMap(({ rollout }) => rollout.map(({ kind, name }) => `${kind} ${name}`));
  for (const { kind, metadata } of deployed) expect(awaited).toContain(`${kind} ${metadata.name}`);
});

test("the Shoot's version is that of its control plane, of kube-proxy and of the kubelets of pools that have none of their own", () => {
  const { provider } = context.shoot.spec;
  const [worker] = poolsOf(context);
  if (worker === undefined) throw new Error("the example has a pool");
  const older = { ...worker, name: "older", kubernetes: { version: "1.32.7" } };
  const kubernetes = { version: "1.33.9" };
  const shoot = exampleShoot({ kubernetes, provider: { ...provider, workers: [worker, older] } });
  const of = exampleContext({ shoot, images: imagesFor(shoot.spec.kubernetes.version) });
  for (const name of [...servers, "kube-proxy"] as const)
    expect(JSON.stringify(components[name].objects(of)), name).toContain(`/${name}:v1.33.9"`);
  const kubelets = poolsOf(of).map(
    (pool) =>
      operatingSystemConfigs(of, pool)
        .flatMap(({ spec }) => spec.files ?? [])
        .find(({ path }) => path === "/opt/bin/kubelet")?.content.imageRef?.image,
  );
  expect(kubelets).toEqual([expect.stringMatching(/:v1\.33\.9$/), expect.stringMatching(/:v1\.32\.7$/)]);
});

test("a changed Secret changes the pods that mount it", () => {
  const before = deploymentOf("kube-apiserver");
  const after = components["kube-apiserver"].objects({
    ...context,
    checksums: { ...context.checksums, "kube-apiserver": "other" },
  });
  expect(after).not.toContainEqual(before);
});

test("the same context makes the same objects", () => {
  for (const { objects } of Object.values(components))
    expect(objects(exampleContext())).toEqual(objects(exampleContext()));
});

test("only the objects of a component are waited for", () => {
  for (const { objects, rollout } of Object.values(components)) {
    const names = objects(context).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names).toEqual(expect.arrayContaining(rollout.map(({ kind, name }) => `${kind}/${name}`)));
  }
});

function deploymentOf(name: ComponentName): KubeObject | undefined {
  return components[name]
    .objects(context)
    .find(({ kind, metadata }) => kind === "Deployment" && metadata.name === name);
}

function containersOf(name: ComponentName): readonly Container[] {
  const { spec } = deploymentOf(name) as unknown as {
    spec: { template: { spec: { containers: readonly Container[] } } };
  };
  return spec.template.spec.containers;
}
