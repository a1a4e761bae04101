import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { OperatingSystemConfig } from "../../src/api/index.ts";
import { NODE_MACHINE_LABEL } from "../../src/api/labels.ts";
import {
  components,
  nodeAgentSecret,
  operatingSystemConfigs,
  poolsOf,
  type ControlPlaneContext,
} from "../../src/components/index.ts";
import { Node, parseKubeconfig, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { cacheDirectory } from "../../src/local/binary/binaries.ts";
import { applyCrds, applyUpstreamCrds } from "../../src/local/cluster/manifests.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { buildImages, helloImage, pauseImage } from "../../src/local/image/images.ts";
import { buildMachineImage } from "../../src/local/image/machine-image.ts";
import { buildNodeImages } from "../../src/local/image/node-images.ts";
import { createMachines } from "../../src/local/machine/machines.ts";
import { ensureBridge, removeBridge } from "../../src/local/network/bridge.ts";
import { startDns } from "../../src/local/process/dns.ts";
import { createProcesses } from "../../src/local/process/processes.ts";
import { pushImage } from "../../src/local/registry/images.ts";
import { startRegistry } from "../../src/local/registry/registry.ts";
import { pushing } from "../../src/local/registry/writer.ts";
import { createLogger } from "../../src/log.ts";
import { ensureBootstrapToken } from "../../src/provider-local/worker/bootstrap-token.ts";
import { findBinary } from "./binary.ts";
import type { Child } from "./child.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { eventually } from "./eventually.ts";
import { startResourceManager } from "./resource-manager.ts";
import { startShootControlPlane, type ShootControlPlane } from "./shoot-control-plane.ts";
import { startProviderLocal } from "./upstream-controllers.ts";

/** A Shoot's control plane that machines reach, and all of upstream's programs that a machine needs to join it. */
export interface UpstreamGround {
  readonly seed: KubeClient;
  readonly shoot: KubeClient;
  readonly machines: ReturnType<typeof createMachines>;
  /** The user data of the Shoot's only pool as its controller made it, for this machine. */
  userData(machine: string): Promise<string>;
  /** Writes into the Shoot what its machines are to become, out of what its controller made of it. */
  deployConfiguration(context: ControlPlaneContext): Promise<void>;
  /** Says in the seed that there is such a machine, as machine-controller-manager does before it makes one. */
  announce(machine: string): Promise<void>;
  /** Waits for the machine's Node, and says on it whose it is, as machine-controller-manager does. */
  claimNode(machine: string): Promise<void>;
  stop(): Promise<void>;
}

const log = createLogger({ name: "upstream-machine", level: "silent" });

/** Starts it all, from the images of the binaries in the cache. Whatever it makes on the host is the environment's. */
export async function startUpstreamGround(
  environment: Environment,
  context: ControlPlaneContext,
): Promise<UpstreamGround> {
  await sweep(environment);
  const directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  const seed = await startControlPlane();
  const shoot = await startShoot(seed, context);
  const client = await shoot.client("gardener-internal");
  for (const { target, objects } of Object.values(components))
    if (target === "shoot") for (const object of objects(context)) await client.apply(object);
  const server = parseKubeconfig(await shoot.kubeconfig("gardener-internal")).server;
  await ensureBridge(environment);
  const front = await forward(environment.gateway, Number(new URL(server).port));
  await serveNames(environment, context);
  await serveImages(environment);
  const children = [
    await startProviderLocal(directory, seed.kubeconfigFile, ["operatingsystemconfig"]),
    await startApprover(directory, seed, shoot, context),
  ];
  const machines = createMachines(environment, log);

  return {
    seed: seed.client,
    shoot: client,
    machines,
    userData: async (machine) => await readUserData(seed.client, client, context, machine),
    deployConfiguration: async (changed) => await deployConfiguration(seed.client, client, changed),
    announce: async (machine) => await announce(seed.client, context.namespace, machine),
    claimNode: async (machine) => await claimNode(client, machine),
    async stop() {
      front.close();
      await Promise.all(children.map((child) => child.kill()));
      await client.close();
      await shoot.stop();
      await seed.stop();
      await rm(directory, { recursive: true });
      await sweep(environment);
    },
  };
}

/** Also what a run that was killed has left. */
async function sweep(environment: Environment): Promise<void> {
  const processes = createProcesses(environment, log);
  for (const { name } of await processes.list()) await processes.stop(name);
  await createMachines(environment, log).removeAll();
  await removeBridge(environment);
  await rm(environment.stateDir, { recursive: true, force: true });
}

async function startShoot(seed: ControlPlane, context: ControlPlaneContext): Promise<ShootControlPlane> {
  await applyCrds(seed.client, "seed");
  await applyUpstreamCrds(seed.client);
  for (const object of components.namespace.objects(context)) await seed.client.apply(object);
  await ensureSecrets(seed.client, context);
  const { shoot, seed: spec, cloudProfile, namespace } = context;
  await seed.client.apply({
    ...{ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster", metadata: { name: namespace } },
    spec: { shoot, seed: spec, cloudProfile },
  });
  return await startShootControlPlane(seed.client, context);
}

/** The API server listens on a port that was free; machines know it by the one that every Shoot has. */
async function forward(gateway: string, port: number): Promise<Server> {
  const front = createServer((machine) => {
    const back = connect(port, "127.0.0.1");
    machine.pipe(back).pipe(machine);
    machine.on("error", () => back.destroy());
    back.on("error", () => machine.destroy());
  });
  await new Promise<void>((resolve, reject) => front.once("error", reject).listen(443, gateway, resolve));
  return front.unref();
}

async function serveNames(environment: Environment, { internalDomain }: ControlPlaneContext): Promise<void> {
  const { gateway, domain } = environment;
  const dns = await startDns(environment, createProcesses(environment, log));
  const update = [
    `server ${gateway}`,
    `zone ${domain}`,
    `update add api.${internalDomain} 60 A ${gateway}`,
    "send",
    "",
  ];
  await execa("nsupdate", ["-k", dns.keyFile], { input: update.join("\n") });
}

async function serveImages(environment: Environment): Promise<void> {
  const processes = createProcesses(environment, log);
  const binary = await findBinary("registry");
  const registry = await startRegistry(environment, processes, { binary });
  const wanted = (await buildImages(cacheDirectory(), log)).filter(({ name }) =>
    [pauseImage, helloImage].includes(name),
  );
  const folder = join(environment.stateDir, "images");
  const machine = await buildMachineImage({ cache: cacheDirectory(), folder, registry, log });
  const images = [...wanted, ...(await buildNodeImages(cacheDirectory(), log)), machine];
  await pushing(environment, processes, binary, async (client) => {
    for (const image of images) await pushImage(client, image);
  });
}

/** The Shoot's resource manager: it approves the certificates of node agents and kubelets whose machine it knows. */
async function startApprover(
  directory: string,
  seed: ControlPlane,
  shoot: ShootControlPlane,
  context: ControlPlaneContext,
): Promise<Child> {
  const target = join(directory, "shoot.yaml");
  await writeFile(target, await shoot.kubeconfig("gardener-internal"), { mode: 0o600 });
  const { namespace } = context;
  const secret = await seed.client.read(Secret, { namespace, name: "gardener-resource-manager-server" });
  const configMap = components["resource-manager"].objects(context).find(({ kind }) => kind === "ConfigMap");
  const files = { source: seed.kubeconfigFile, target, server: secret?.data ?? {} };
  return await startResourceManager(join(directory, "resource-manager"), configMap, files);
}

/** Applies a pool's OperatingSystemConfigs; what its controller made of them. */
async function reconcileConfigs(seed: KubeClient, context: ControlPlaneContext) {
  const [pool] = poolsOf(context);
  if (pool === undefined) throw new Error("the Shoot has no pool");
  const configs = operatingSystemConfigs(context, pool);
  const reconciled: OperatingSystemConfig[] = [];
  for (const config of configs) {
    const annotations = {
      "gardener.cloud/operation": "reconcile",
      "gardener.cloud/timestamp": new Date().toISOString(),
    };
    await seed.apply({ ...config, metadata: { ...config.metadata, annotations } });
    const { name, namespace = "" } = config.metadata;
    const ref = refTo(OperatingSystemConfig, { name, namespace });
    reconciled.push(
      await eventually(async () => {
        const found = (await seed.read(ref)) ?? expect.fail("it is gone");
        const { status, metadata } = found;
        expect(status?.lastOperation?.state, status?.lastError?.description).toBe("Succeeded");
        expect(status?.observedGeneration).toBe(metadata.generation);
        expect(metadata.annotations?.["gardener.cloud/operation"]).toBeUndefined();
        return found;
      }, 30_000),
    );
  }
  const [provision, reconcile] = reconciled;
  if (provision === undefined || reconcile === undefined) throw new Error("the pool has no configuration");
  return { pool, provision, reconcile };
}

async function readUserData(seed: KubeClient, shoot: KubeClient, context: ControlPlaneContext, machine: string) {
  const { provision } = await reconcileConfigs(seed, context);
  const { name = "" } = provision.status?.cloudConfig?.secretRef ?? {};
  const secret = await seed.read(Secret, { namespace: context.namespace, name });
  const script = Buffer.from(secret?.data?.["cloud_config"] ?? "", "base64").toString();
  // As machine-controller-manager does for each machine.
  return script
    .replaceAll("<<BOOTSTRAP_TOKEN>>", await ensureBootstrapToken(shoot, machine))
    .replaceAll("<<MACHINE_NAME>>", machine);
}

async function deployConfiguration(seed: KubeClient, shoot: KubeClient, context: ControlPlaneContext): Promise<void> {
  const { pool, reconcile } = await reconcileConfigs(seed, context);
  const secrets = new Map<string, Readonly<Record<string, string>>>();
  for (const { metadata, data = {} } of await seed.list(Secret, { namespace: context.namespace }))
    secrets.set(metadata.name, data);
  const lookup = (name: string, key: string) => secrets.get(name)?.[key] ?? expect.fail(`no ${key} in Secret ${name}`);
  await shoot.apply(nodeAgentSecret(context, pool, reconcile, lookup));
}

/** As it does before the machine is made. */
async function announce(seed: KubeClient, namespace: string, machine: string): Promise<void> {
  await seed.apply({
    ...{ apiVersion: "machine.sapcloud.io/v1alpha1", kind: "Machine" },
    metadata: { name: machine, namespace, labels: { node: machine } },
    spec: { class: { kind: "MachineClass", name: "class" } },
  });
}

/** As it does once the Node is there: before that, the machine's agent may not change it. */
async function claimNode(shoot: KubeClient, machine: string): Promise<void> {
  const ref = refTo(Node, { name: machine });
  await eventually(async () => expect(await shoot.read(ref)).toBeDefined(), 150_000);
  await shoot.patch(ref, { metadata: { labels: { [NODE_MACHINE_LABEL]: machine } } });
}
