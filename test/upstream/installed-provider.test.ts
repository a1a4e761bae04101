import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { whyNotReady } from "../../src/api/registration/installation.ts";
import {
  BackupBucket,
  ControllerInstallation,
  ControllerRegistration,
  ExtensionBackupBucket,
  Seed,
  Worker,
} from "../../src/api/index.ts";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { installationNamespace } from "../../src/api/names.ts";
import { createKubeClient, Namespace, Node, Pod, refOf, refTo } from "../../src/kube/index.ts";
import { kubeconfigFile } from "../../src/local/cluster/clusters.ts";
import { down } from "../../src/local/environment/down.ts";
import { findBinary } from "../support/binary.ts";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment, type SeedName } from "../support/local-environment.ts";
import { findRemains } from "../support/machine-remains.ts";
import { findSeedRemains, findShootRemains } from "../support/shoot-remains.ts";
import { seconds } from "../support/patience.ts";

/**
 * The local provider in pods of real seeds: no seed has a built-in one. It is installed by registration, from its chart, and
 * a Shoot lives on it from first to last.
 */
const name = "installed";
const registration = "provider-local";
let local: LocalEnvironment;
let shoot: TestShoot;

beforeAll(async () => {
  await down({ name }); // what an interrupted run has left
  local = await localEnvironment(name, { providerLocal: "chart" });
}, seconds(900));

afterAll(async () => {
  await local?.close();
  await down({ name });
}, seconds(180));

test(
  "it is installed on every seed, healthy, and no other local provider runs for a seed",
  async () => {
    await eventually(async () => {
      const installations = await findInstallations();
      expect(installations.map(({ spec }) => spec.seedRef?.name).sort()).toEqual(["seed-1", "seed-2"]);
      for (const installation of installations) expect(whyNotReady(installation)).toBeUndefined();
    }, 300_000);
    const processes = await readdir(join(local.environment.stateDir, "processes"));
    expect(processes.filter((file) => /^provider-local.*\.json$/.test(file))).toEqual(["provider-local-garden.json"]);
  },
  seconds(360),
);

test("its pods have no privileges, and of the host only the folders that they share with it", async () => {
  const { stateDir } = local.environment;
  for (const seed of seedNames) {
    const { spec } = (await findPod(seed)) as Pod & { readonly spec: PodSpec };
    expect(spec).not.toMatchObject({ hostPID: true });
    expect(spec).not.toMatchObject({ hostNetwork: true });
    expect(spec.containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const paths = spec.volumes.flatMap(({ hostPath }) => (hostPath === undefined ? [] : [hostPath.path]));
    expect(paths.map((path) => path.slice(stateDir.length + 1)).sort()).toEqual([
      "buckets",
      "dns/ask.key",
      "dns/tsig.key",
      "load-balancer-addresses",
      "machine-api",
      `volumes/${seed}`,
    ]);
  }
});

test(
  "a Shoot gets a ready node from it, though its pod is killed in the middle of the Worker's creation",
  async () => {
    shoot = await createShoot(local, { name: "onpods" });
    const worker = refTo(Worker, { namespace: shoot.technicalID, name: shoot.name });
    await eventually(async () => {
      expect((await local.seedClient.read(worker))?.status?.lastOperation).toMatchObject({ state: "Processing" });
      expect(await machinesOfShoot()).not.toEqual([]);
    }, 900_000);
    const before = await findPod("seed-1");
    await local.seedClient.remove(refOf(before), { gracePeriodSeconds: 0 });
    const begun = (await machinesOfShoot()).map(({ createdAt }) => createdAt);
    await shoot.settles("Succeeded", "Create", 600_000);
    expect((await findPod("seed-1")).metadata.uid).not.toBe(before.metadata.uid);
    expect((await machinesOfShoot()).map(({ createdAt }) => createdAt)).toEqual(begun);
    expect(await readyNodes()).toHaveLength(1);
  },
  seconds(1500),
);

test.each(["Infrastructure", "ControlPlane"])(
  "its %s controller keeps the contract, killed in the middle, too",
  async (kind) => {
    const kubeconfig = kubeconfigFile(local.environment, "seed-1");
    const namespace = installationNamespace((await installationOn("seed-1")).metadata.name);
    const kubectl = `${await findBinary("kubectl")} --kubeconfig ${kubeconfig} --namespace ${namespace}`;
    const restart = `${kubectl} delete pod --selector app=provider-local --grace-period=0 --force && ${kubectl} rollout status deployment provider-local --timeout 120s`;
    const { stdout } = await execa(
      join(import.meta.dirname, "../../bin/perennial"),
      [
        ...["extension", "verify", "--kind", kind, "--type", "local", "--kubeconfig", kubeconfig],
        ...["--restart-command", restart, "-o", "json"],
      ],
      { reject: false },
    );
    const report = JSON.parse(stdout) as Report;
    expect(report.clauses.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(report.clauses.filter(({ verdict }) => verdict === "passed").length).toBeGreaterThan(20);
    expect(report.left).toEqual([]);
  },
  seconds(600),
);

test(
  "the Shoot moves to the other seed, where another pod serves it; its node stays",
  async () => {
    const before = await readyNodes();
    await local.perennial("shoot", "migrate", `garden-dev/${shoot.name}`, "--to", "seed-2", "-y");
    await shoot.settles("Succeeded", "Restore", 900_000);
    await eventually(async () => expect(await findSeedRemains(local, shoot, "seed-1")).toEqual([]), 120_000);
    expect(await readyNodes()).toEqual(before);
  },
  seconds(1080),
);

test(
  "the Shoot is deleted, and nothing is left of it",
  async () => {
    await shoot.remove();
    await shoot.gone(600_000);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 120_000);
  },
  seconds(780),
);

test("registered no more, it stays as long as the seeds' buckets need it, and says so", async () => {
  await local.gardenClient.remove(refTo(ControllerRegistration, { name: registration }));
  await eventually(async () => {
    const installations = await findInstallations();
    expect(installations).toHaveLength(2);
    for (const { spec, status } of installations) {
      const bucket = await bucketOf(spec.seedRef?.name as SeedName);
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({
          ...{ type: "Required", status: "True", reason: "ExtensionObjectsExist" },
          message: expect.stringContaining(`BackupBucket local: ${bucket}`) as string,
        }),
      );
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Healthy", status: "True" }));
    }
  }, 60_000);
  const described = (await local.perennial("extension", "describe", registration)).replaceAll(/\s+/g, " ");
  for (const seed of seedNames)
    expect(described).toContain(`BackupBucket ${await bucketOf(seed)} goes when you delete Seed ${seed}`);
});

test(
  "when the Seeds are deleted it takes away their buckets, then its registration goes",
  async () => {
    for (const name of seedNames) await local.gardenClient.remove(refTo(Seed, { name }));
    await eventually(async () => {
      expect(await local.gardenClient.list(BackupBucket)).toEqual([]);
      expect(await findInstallations()).toEqual([]);
      expect(await local.gardenClient.read(ControllerRegistration, { name: registration })).toBeUndefined();
    }, 300_000);
    await eventually(async () => expect(await local.gardenClient.list(Seed)).toEqual([]), 60_000);
    for (const seed of seedNames) {
      expect(await local.seeds[seed].list(ExtensionBackupBucket), seed).toEqual([]);
      expect(await local.seeds[seed].list(Namespace, { labelSelector: `${ROLE_LABEL}=extension` }), seed).toEqual([]);
    }
    expect(await readdir(join(local.environment.stateDir, "buckets"))).toEqual([]);
  },
  seconds(360),
);

test(
  "the environment goes, and leaves nothing on the host",
  async () => {
    const { environment } = local;
    await down({ name });
    expect(await findRemains(environment)).toEqual([]);
    expect(existsSync(environment.stateDir)).toBe(false);
  },
  seconds(180),
);

const seedNames: readonly SeedName[] = ["seed-1", "seed-2"];

/** The name of a Seed's bucket: the Seed's uid. */
async function bucketOf(seed: SeedName): Promise<string> {
  return (await local.gardenClient.read(Seed, { name: seed }))?.metadata.uid ?? "";
}

/** What a report of `extension verify` says. */
interface Report {
  readonly clauses: readonly { readonly verdict: "passed" | "failed" | "not judged" }[];
  readonly left: readonly string[];
}

/** What the test looks at in a pod. */
interface PodSpec {
  readonly containers: readonly { readonly securityContext?: object }[];
  readonly volumes: readonly { readonly hostPath?: { readonly path: string } }[];
}

const findInstallations = async (): Promise<readonly ControllerInstallation[]> =>
  (await local.gardenClient.list(ControllerInstallation)).filter(
    ({ spec }) => spec.registrationRef.name === registration,
  );

async function installationOn(seed: SeedName): Promise<ControllerInstallation> {
  const found = (await findInstallations()).find(({ spec }) => spec.seedRef?.name === seed);
  if (found === undefined) throw new Error(`${registration} is not installed on ${seed}`);
  return found;
}

async function findPod(seed: SeedName): Promise<Pod> {
  const namespace = installationNamespace((await installationOn(seed)).metadata.name);
  const [pod] = await local.seeds[seed].list(Pod, { namespace, labelSelector: `app=${registration}` });
  if (pod === undefined) throw new Error(`${registration} has no pod in ${seed}`);
  return pod;
}

const machinesOfShoot = async () =>
  (await local.machines.list()).filter(({ name }) => name.startsWith(shoot.technicalID));

/** The names of the Shoot's ready nodes, as its own API server has them. */
async function readyNodes(): Promise<string[]> {
  const kubeconfig = await local.perennial("shoot", "kubeconfig", `garden-dev/${shoot.name}`);
  const client = createKubeClient({ kubeconfig });
  try {
    const nodes = await client.list(Node);
    return nodes
      .filter(({ status }) => status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"))
      .map(({ metadata }) => metadata.name)
      .sort();
  } finally {
    await client.close();
  }
}
