import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Cluster } from "../../src/api/index.ts";
import { Namespace, PersistentVolume, Secret, Service, type KubeClient } from "../../src/kube/index.ts";
import { queryRecords } from "../../src/provider-local/dns/name-server.ts";
import type { TestShoot } from "./e2e-shoots.ts";
import type { LocalEnvironment, SeedName } from "./local-environment.ts";
import { findRemains } from "./machine-remains.ts";

/** Whatever a Shoot has, or has left, in the garden, the seeds, on the host, in the DNS and in Temporal; one line each. */
export async function findShootRemains(local: LocalEnvironment, shoot: TestShoot): Promise<string[]> {
  const found = await Promise.all([
    inGarden(local, shoot),
    ...seedNames(local).map((name) => findSeedRemains(local, shoot, name)),
    onHost(local, shoot),
    inDns(local, shoot),
    orphaned(local),
  ]);
  return [...found.flat(), ...(await inTemporal(local, shoot))];
}

async function inGarden(
  { gardenClient }: LocalEnvironment,
  { ref: { namespace, name } }: TestShoot,
): Promise<string[]> {
  const secret = await gardenClient.read(Secret, { namespace, name: `${name}.kubeconfig` });
  return secret === undefined ? [] : [`Secret ${namespace}/${name}.kubeconfig`];
}

const seedNames = ({ seeds }: LocalEnvironment) => Object.keys(seeds) as SeedName[];

/** What there is of a Shoot in one seed; one line each. */
export async function findSeedRemains(
  { seeds }: LocalEnvironment,
  { technicalID: name }: Pick<TestShoot, "technicalID">,
  seedName: SeedName,
): Promise<string[]> {
  const seedClient = seeds[seedName];
  const [namespace, cluster, volumes] = await Promise.all([
    seedClient.read(Namespace, { name }),
    seedClient.read(Cluster, { name }),
    seedClient.list(PersistentVolume),
  ]);
  return [
    ...(namespace === undefined ? [] : [`Namespace ${name}`]),
    ...(cluster === undefined ? [] : [`Cluster ${name}`]),
    ...volumes
      .filter(({ spec }) => spec.claimRef?.namespace === name)
      .map(({ metadata }) => `PersistentVolume ${metadata.name}`),
  ];
}

/** Machines with their cgroups, network namespaces and mounts; and volumes' directories. */
async function onHost({ environment, machines }: LocalEnvironment, { technicalID }: TestShoot): Promise<string[]> {
  const all = [
    ...(await machines.list()).map(({ name }) => `machine ${name}`),
    ...(await findRemains(environment)),
    ...(await entries(join(environment.stateDir, "machines"))).map((name) => `directory of machine ${name}`),
  ];
  return all.filter((line) => line.includes(technicalID));
}

/** Addresses of load balancers and directories of volumes that belong to no object any more, whichever Shoot's it was. */
async function orphaned({ environment: { stateDir }, seeds }: LocalEnvironment): Promise<string[]> {
  const listIn = async (name: string, client: KubeClient) => {
    const volumes = await client.list(PersistentVolume);
    const known = new Set(volumes.map(({ metadata }) => metadata.name));
    const directories = await entries(join(stateDir, "volumes", name));
    return {
      services: await client.list(Service),
      unclaimed: directories.filter((uid) => !known.has(`pvc-${uid}`)),
    };
  };
  const found = await Promise.all(Object.entries(seeds).map(([name, client]) => listIn(name, client)));
  const uids = new Set(found.flatMap(({ services }) => services.map(({ metadata }) => metadata.uid)));
  const pool = join(stateDir, "load-balancer-addresses");
  const claims = await Promise.all(
    (await entries(pool)).map(async (address) => ({ address, owner: await readFile(join(pool, address), "utf8") })),
  );
  return [
    ...claims
      .filter(({ owner }) => !uids.has(owner.split("/")[1]))
      .map(({ address }) => `load balancer address ${address}`),
    ...found.flatMap(({ unclaimed }) => unclaimed.map((uid) => `directory of volume pvc-${uid}`)),
  ];
}

async function entries(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(() => [])).filter((name) => !name.startsWith("."));
}

async function inDns({ environment: { gateway } }: LocalEnvironment, { hosts }: TestShoot): Promise<string[]> {
  const server = { address: gateway, key: { file: "" } };
  const answers = await Promise.all(hosts.map((name) => queryRecords(server, { name, type: "A" })));
  return hosts.flatMap((host, index) => (answers[index] ?? []).map((address) => `DNS ${host} ${address}`));
}

async function inTemporal({ temporal }: LocalEnvironment, { ref: { namespace, name } }: TestShoot): Promise<string[]> {
  const running: string[] = [];
  const query = `ShootName = "${namespace}/${name}" AND ExecutionStatus = "Running"`;
  for await (const { workflowId } of temporal.workflow.list({ query })) running.push(`workflow ${workflowId}`);
  return running;
}
