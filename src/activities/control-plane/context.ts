import { createHash } from "node:crypto";
import { ZONES_ANNOTATION } from "../../api/annotations.ts";
import { SSH_KEY_PAIR } from "../../api/names.ts";
import { zonesOfControlPlane } from "../../api/placement/zones.ts";
import { isAsleep, type ShootRun } from "../../api/shoot/run.ts";
import { imagesFor, type SeedContext } from "../../components/index.ts";
import { EndpointSlice, Namespace, Secret, Service, type KubeClient } from "../../kube/index.ts";
import { readGardenObjects } from "./cluster.ts";
import { readManagedMachines } from "../machines/managed-machines.ts";
import { addressOf } from "../waits/readiness.ts";

/** Reads, in the garden and the seed, all that the Shoot's objects are made from. */
export async function readContext(
  gardenClient: KubeClient,
  seedClient: KubeClient,
  run: ShootRun,
): Promise<SeedContext> {
  const namespace = run.technicalID;
  const [objects, secrets, service, seedApiServer] = await Promise.all([
    readGardenObjects(gardenClient, run),
    seedClient.list(Secret, { namespace }),
    seedClient.read(Service, { namespace, name: "kube-apiserver" }),
    findSeedApiServer(seedClient),
  ]);
  const address = service && addressOf(service);
  return {
    ...objects,
    namespace,
    replicas: isAsleep(run) ? 0 : 1,
    dnsTtl: run.migration ? Math.min(run.dnsTtl, MOVING_TTL) : run.dnsTtl,
    ...(await readZones(seedClient, run, objects)),
    ...(run.managesResources === true ? { managesResources: true } : {}),
    ...(run.tunnel === true ? { tunnel: true } : {}),
    ...(await readManagedMachines(seedClient, run)),
    ...(run.extensions === undefined ? {} : { extensions: run.extensions }),
    ...sshKeyOf(secrets),
    ...authorityOf(secrets),
    ...(run.snapshotMinutes === undefined ? {} : { snapshotMinutes: run.snapshotMinutes }),
    images: imagesFor(objects.shoot.spec.kubernetes.version),
    checksums: Object.fromEntries(secrets.map((secret) => [secret.metadata.name, checksum(secret.data ?? {})])),
    ...(seedApiServer === undefined ? {} : { seedApiServer }),
    ...(address === undefined ? {} : { apiServerAddress: address }),
    ...domainsOf(objects, run),
  };
}

/** The names below which the Shoot's API server has its own. */
function domainsOf(
  { seed, shoot }: Pick<SeedContext, "seed" | "shoot">,
  { name, project }: ShootRun,
): Pick<SeedContext, "internalDomain" | "externalDomain"> {
  const internal = seed.spec.dns.internal?.domain;
  const external = shoot.spec.dns?.domain;
  return {
    ...(internal === undefined ? {} : { internalDomain: `${name}.${project}.${internal}` }),
    ...(external === undefined ? {} : { externalDomain: external }),
  };
}

/** The zones of the control plane; those that it was given stay, so that its volumes do. */
async function readZones(
  seedClient: KubeClient,
  { technicalID: name, uid }: ShootRun,
  { seed, shoot }: Pick<SeedContext, "seed" | "shoot">,
): Promise<Pick<SeedContext, "zones">> {
  if ((seed.spec.provider.zones ?? []).length === 0) return {};
  const { annotations = {} } = (await seedClient.read(Namespace, { name }))?.metadata ?? {};
  const chosen = (annotations[ZONES_ANNOTATION] ?? "").split(",").filter((zone) => zone !== "");
  return { zones: zonesOfControlPlane(shoot, seed, uid, chosen) };
}

/** The key of the Shoot's machines for SSH, as Infrastructures name it. */
function sshKeyOf(secrets: readonly Secret[]): Pick<SeedContext, "sshPublicKey"> {
  const key = secrets.find(({ metadata }) => metadata.name === SSH_KEY_PAIR)?.data?.["id_rsa.pub"];
  return key === undefined ? {} : { sshPublicKey: key };
}

/** What webhooks of the Shoot's resource manager are known by in the Shoot. */
function authorityOf(secrets: readonly Secret[]): Pick<SeedContext, "authority"> {
  const certificate = secrets.find(({ metadata }) => metadata.name === "ca")?.data?.["ca.crt"];
  return certificate === undefined ? {} : { authority: Buffer.from(certificate, "base64").toString() };
}

/** The endpoints of Service `kubernetes`; its pods' view of the API server is that of the NetworkPolicies. */
async function findSeedApiServer(seedClient: KubeClient): Promise<SeedContext["seedApiServer"]> {
  const slices = await seedClient.list(EndpointSlice, {
    namespace: "default",
    labelSelector: "kubernetes.io/service-name=kubernetes",
  });
  const addresses = slices
    .flatMap(({ endpoints }) => (endpoints ?? []).flatMap((endpoint) => endpoint.addresses))
    .sort();
  const port = slices.flatMap(({ ports = [] }) => ports)[0]?.port;
  return addresses.length === 0 || port === undefined ? undefined : { addresses, port };
}

/** In seconds: while a Shoot moves, resolvers soon forget its API server's address. */
const MOVING_TTL = 5;

/** The same data gives the same checksum, in whatever order it comes. */
function checksum(data: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(data).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}
