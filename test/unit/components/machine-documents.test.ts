import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { OperatingSystemConfig } from "../../../src/api/index.ts";
import type { ControlPlaneContext, WorkerPool } from "../../../src/components/index.ts";
import { nodeAgentSecretName, operatingSystemConfigs, poolsOf, workerObject } from "../../../src/components/index.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";

const context = exampleContext();
const [example] = poolsOf(context);
if (example === undefined) throw new Error("the example has a pool");
const changed = (pool: Partial<WorkerPool>): WorkerPool => ({ ...example, ...pool });

function documents(pool: Partial<WorkerPool> = {}, of: ControlPlaneContext = context) {
  const [provision, reconcile] = operatingSystemConfigs(of, changed(pool));
  if (provision === undefined || reconcile === undefined) throw new Error("a pool has two OperatingSystemConfigs");
  return { provision, reconcile };
}

const fileOf = ({ spec }: OperatingSystemConfig, path: string) => spec.files?.find((file) => file.path === path);
const textOf = (config: OperatingSystemConfig, path: string) => fileOf(config, path)?.content.inline?.data ?? "";
const unitOf = ({ spec }: OperatingSystemConfig, name: string) => spec.units?.find((unit) => unit.name === name);
const kubeletOf = (config: OperatingSystemConfig) =>
  parse(textOf(config, "/var/lib/kubelet/config/kubelet")) as Record<string, Record<string, string>>;

test("one Worker has all pools of the Shoot, each with what its own machines boot with", () => {
  const { provider } = context.shoot.spec;
  const workers = ["one", "two"].map((name) => changed({ name }));
  const shoot = exampleShoot({ provider: { ...provider, workers } });
  const userData = { one: { name: "osc-one", key: "cloud_config" }, two: { name: "osc-two", key: "cloud_config" } };
  const { spec } = workerObject(exampleContext({ shoot }), { userData });
  const pools = spec.pools.map(({ name, userDataSecretRef }) => [name, userDataSecretRef.name]);
  expect(pools).toEqual([
    ["one", "osc-one"],
    ["two", "osc-two"],
  ]);
});

describe("what a machine boots with", () => {
  const { provision } = documents();

  test("has the placeholders as they are, so that machine-controller-manager finds them in the user data", () => {
    const directory = "/var/lib/gardener-node-agent";
    for (const [path, placeholder] of [
      [`${directory}/credentials/bootstrap-token`, "<<BOOTSTRAP_TOKEN>>"],
      [`${directory}/machine-name`, "<<MACHINE_NAME>>"],
    ] as const) {
      const inline = { encoding: "", data: placeholder };
      expect(fileOf(provision, path)?.content).toEqual({ inline, transmitUnencoded: true });
    }
  });

  test("has no token, no key, and no program, and is below what clouds take", () => {
    for (const { content } of provision.spec.files ?? []) {
      expect(content.imageRef).toBeUndefined();
      expect(content.secretRef === undefined || content.secretRef.dataKey === "ca.crt").toBe(true);
    }
    expect(JSON.stringify(provision.spec).length).toBeLessThan(8 * 1024);
  });

  test("tells the agent which disk to format for the kubelet, in bytes", () => {
    const pool = { kubeletDataVolumeName: "kubelet", dataVolumes: [{ name: "kubelet", size: "10Gi" }] };
    const configOf = (config: OperatingSystemConfig) =>
      parse(textOf(config, "/var/lib/gardener-node-agent/config-v1.150.0.yaml")) as { bootstrap?: object };
    expect(configOf(documents(pool).provision).bootstrap).toEqual({ kubeletDataVolumeSize: 10_737_418_240 });
    expect(configOf(documents(pool).reconcile).bootstrap).toBeUndefined();
    expect(unitOf(documents(pool).reconcile, "var-lib-kubelet.mount")?.content).toContain("Where=/var/lib/kubelet\n");
    expect(() => documents({ kubeletDataVolumeName: "other" })).toThrow("its data volume other has no size");
  });
});

describe("what a machine becomes", () => {
  test("takes kubelet and agent out of images, the kubelet in its pool's version", () => {
    const { reconcile } = documents({ kubernetes: { version: "1.33.9" } });
    expect(fileOf(reconcile, "/opt/bin/kubelet")?.content.imageRef).toEqual({
      image: "europe-docker.pkg.dev/gardener-project/releases/hyperkube:v1.33.9",
      filePathInImage: "/kubelet",
    });
    expect(fileOf(reconcile, "/opt/bin/gardener-node-agent")?.content.imageRef?.image).toMatch(
      /node-agent:v1\.150\.0$/,
    );
  });

  test("registers as a node that keeps away what does not belong to its control plane, where it carries one", () => {
    const taint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };
    const taintsOf = (pool: Partial<WorkerPool>) => kubeletOf(documents(pool).reconcile)["registerWithTaints"];
    expect(taintsOf({ controlPlane: {} })).toContainEqual(taint);
    expect(taintsOf({})).not.toContainEqual(taint);
  });

  test.each([
    ["4Gi", "5%", "10%"],
    ["8Gi", "5%", "10%"],
    ["9Gi", "1Gi", "1.5Gi"],
  ])("with %s of memory, evicts pods below %s at once and below %s after a while", (memory, hard, soft) => {
    const { cloudProfile } = context;
    const machineTypes = [{ name: "local", cpu: "2", memory, gpu: "0" }];
    const of = exampleContext({ cloudProfile: { ...cloudProfile, spec: { ...cloudProfile.spec, machineTypes } } });
    const kubelet = kubeletOf(documents({ kubernetes: {} }, of).reconcile);
    expect(kubelet["evictionHard"]?.["memory.available"]).toBe(hard);
    expect(kubelet["evictionSoft"]?.["memory.available"]).toBe(soft);
  });

  test.each([
    ["40s", 25, 12],
    ["46s", 30, 15],
    ["2m0s", 30, 15],
    ["1s", 0, 0],
  ])("a kubelet notices a dead connection within the grace period %s", (nodeMonitorGracePeriod, idle, ping) => {
    const kubernetes = { ...context.shoot.spec.kubernetes, kubeControllerManager: { nodeMonitorGracePeriod } };
    const { reconcile } = documents({}, exampleContext({ shoot: exampleShoot({ kubernetes }) }));
    const wanted = `"HTTP2_READ_IDLE_TIMEOUT_SECONDS=${idle}" "HTTP2_PING_TIMEOUT_SECONDS=${ping}"`;
    expect(unitOf(reconcile, "kubelet.service")?.content).toContain(`Environment=${wanted}\n`);
  });

  test("a kubelet asks for what it serves with, for kube-apiserver takes no certificate that it signs itself", () => {
    expect(kubeletOf(documents({}, context).reconcile)["serverTLSBootstrap"]).toBe(true);
  });

  test("the pool's kernel settings come over Gardener's, and without kube-proxy connections are counted higher", () => {
    const path = "/etc/sysctl.d/99-k8s-general.conf";
    const settings = textOf(
      documents({ sysctls: { "net.core.somaxconn": "7", "vm.swappiness": "1" } }).reconcile,
      path,
    );
    expect(settings).toContain("\nnet.core.somaxconn = 7\n");
    expect(settings).toContain("\nvm.swappiness = 1\n");
    expect(settings).not.toContain("nf_conntrack_max");
    const kubernetes = { ...context.shoot.spec.kubernetes, kubeProxy: { enabled: false } };
    const without = documents({}, exampleContext({ shoot: exampleShoot({ kubernetes }) })).reconcile;
    expect(textOf(without, path)).toContain("net.netfilter.nf_conntrack_max = 1048576\n");
  });

  test("a kubelet that may change the kernel's settings finds none made for it", () => {
    const pool = { kubernetes: { kubelet: { protectKernelDefaults: false } } };
    expect(textOf(documents(pool).reconcile, "/etc/sysctl.d/99-k8s-general.conf")).not.toContain("vm.panic_on_oom");
  });

  test("a machine trusts its pool's authorities, and restarts for them what has read the old ones", () => {
    const { reconcile } = documents({ caBundle: "theirs" });
    const paths = ["/var/lib/ca-certificates-local/pool.crt", "/etc/pki/trust/anchors/pool.pem"];
    for (const path of paths) expect(textOf(reconcile, path)).toBe("theirs");
    expect(unitOf(reconcile, "updatecacerts.service")?.filePaths).toEqual(expect.arrayContaining(paths));
  });

  test("people may log in where there is a key and their owner lets them, from the first boot on", () => {
    const names = ({ spec }: OperatingSystemConfig) => (spec.units ?? []).map(({ name }) => name);
    const checksums = { ...context.checksums, "ssh-keypair": "sum" };
    const { provision, reconcile } = documents({}, exampleContext({ checksums }));
    for (const config of [provision, reconcile]) {
      expect(names(config)).toEqual(expect.arrayContaining(["gardener-user.path", "sshd-ensurer.service"]));
      expect(textOf(config, "/var/lib/sshd-ensurer/run.sh")).toContain("systemctl unmask sshd.service");
    }
    const provider = { ...context.shoot.spec.provider, workersSettings: { sshAccess: { enabled: false } } };
    const without = documents({}, exampleContext({ checksums, shoot: exampleShoot({ provider }) })).reconcile;
    expect(names(without)).not.toContain("gardener-user.path");
    expect(textOf(without, "/var/lib/sshd-ensurer/run.sh")).toContain("systemctl mask --now sshd.service");
    expect(names(documents().reconcile)).not.toContain("sshd-ensurer.service");
  });

  test("nodes say which container runtimes they have, so that a RuntimeClass finds them", () => {
    const pool = changed({ cri: { name: "containerd", containerRuntimes: [{ type: "gvisor" }] } });
    const shoot = exampleShoot({ provider: { ...context.shoot.spec.provider, workers: [pool] } });
    const userData = { worker: { name: "osc-result-worker", key: "cloud_config" } };
    const label = "containerruntime.worker.gardener.cloud/gvisor";
    expect(workerObject(exampleContext({ shoot }), { userData }).spec.pools[0]?.labels).toMatchObject({
      [label]: "true",
    });
    expect(unitOf(documents(pool).reconcile, "kubelet.service")?.content).toContain(`--node-labels=${label}=true`);
  });
});

describe("a pool's key", () => {
  const key = (pool: Partial<WorkerPool>, version = "1.34.4") =>
    nodeAgentSecretName(exampleContext({ shoot: exampleShoot({ kubernetes: { version } }) }), changed(pool));

  test("is the one that upstream's own function makes of the same pool", () => {
    expect(key({})).toBe("gardener-node-agent-worker-791f4ef57b6b2f4c");
    const kubelet = { kubeReserved: { cpu: "1" }, cpuManagerPolicy: "static" };
    const pool = { volume: { size: "50Gi", type: "fast" }, kubernetes: { kubelet } };
    expect(key(pool)).toBe("gardener-node-agent-worker-19362d59f4b68932");
  });

  test("stays while machines can be changed in place", () => {
    for (const pool of [{ labels: { team: "b" } }, { maximum: 9 }, { sysctls: { "vm.swappiness": "1" } }])
      expect(key(pool, "1.34.5")).toBe(key({}));
  });

  test.each<Partial<WorkerPool>>([
    { kubernetes: { version: "1.33.9" } },
    { machine: { type: "large" } },
    { machine: { type: "local", image: { name: "other", version: "1.10.0" } } },
    { volume: { size: "50Gi" } },
    { volume: { size: "50Gi", type: "fast" } },
    { cri: { name: "other" } },
    { kubernetes: { kubelet: { kubeReserved: { cpu: "1" } } } },
    { kubernetes: { kubelet: { evictionHard: { memoryAvailable: "1Gi" } } } },
    { kubernetes: { kubelet: { cpuManagerPolicy: "static" } } },
  ])("changes with %j, for which machines have to be replaced", (pool) => {
    expect(key(pool)).not.toBe(key({}));
  });
});
