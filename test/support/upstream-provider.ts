import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { parse, stringify } from "yaml";
import { CloudProfile, type ControllerDeployment, type ControllerRegistration } from "../../src/api/index.ts";
import { refTo, Secret } from "../../src/kube/index.ts";
import { versions } from "../../src/local/binary/versions.ts";
import { kubeconfigFile } from "../../src/local/cluster/clusters.ts";
import { readManifest } from "../../src/manifests.ts";
import { hasMachinePods, isLeft, type Environment } from "../../src/local/environment/environment.ts";
import { upstreamRepositories } from "../../src/local/image/images.ts";
import { machineImage } from "../../src/local/image/machine-image.ts";
import { findBinary } from "./binary.ts";
import { moduleFolder } from "./go-module.ts";
import type { LocalEnvironment } from "./local-environment.ts";

/** The name that upstream's own files give provider-local, and what its registration and deployment are called here. */
export const upstreamName = "upstream-provider-local";

/**
 * Writes into a folder what `perennial extension install` is given: upstream's own registration and deployment of
 * provider-local, with its chart from the same Go module. Different are their name; the places of chart and images; access to
 * the garden, which is not given; and kinds and controllers of what the built-in provider serves in the environment.
 */
export async function writeUpstreamRegistration({ environment }: LocalEnvironment, folder: string): Promise<string> {
  const module = await moduleFolder("github.com/gardener/gardener", versions.gardener);
  const read = async <T>(name: string): Promise<T> =>
    parse(await readFile(join(module, registrationFolder, `${name}.yaml`), "utf8")) as T;
  const deployment = await read<ControllerDeployment>("controllerdeployment");
  const registration = await read<ControllerRegistration>("controllerregistration");
  const { resources = [] } = registration.spec;
  const builtIn = await builtInKinds();
  const kept = resources.filter(
    ({ kind, type }) => !builtIn.has(kind) || type !== "local" || isLeft(environment, { kind, type }),
  );
  const off = resources.filter((resource) => !kept.includes(resource)).map(({ kind }) => kind.toLowerCase());
  const metadata = { ...registration.metadata, name: upstreamName };
  const objects = [
    {
      ...deployment,
      metadata: { name: upstreamName },
      helm: {
        rawChart: await packageModuleChart(module),
        values: { ...images, disableControllers: off, controllers: { backupbucket: await shareBuckets(environment) } },
      },
      injectGardenKubeconfig: false,
    },
    { ...registration, metadata, spec: { resources: kept, deployment: { deploymentRefs: [{ name: upstreamName }] } } },
  ];
  const file = join(folder, "upstream-provider-local.yaml");
  await writeFile(file, objects.map((object) => stringify(object)).join("---\n"));
  return file;
}

/**
 * Gives the garden what upstream's provider-local asks for: the images in the CloudProfile's `providerConfig`, of which seeds
 * pull that of machines where it makes them, and in the Shoots' credentials the kubeconfig of the cluster that its
 * infrastructure is made in, seed-1.
 */
export async function prepareGarden({ environment, gardenClient }: LocalEnvironment): Promise<void> {
  const notPulled = "example.org/not-pulled:v1";
  const image = hasMachinePods(environment) ? machineImage : notPulled;
  const providerConfig = {
    apiVersion: "local.provider.extensions.gardener.cloud/v1alpha1",
    kind: "CloudProfileConfig",
    machineImages: [{ name: "local", versions: [{ version: "1.0.0", image }] }],
    loadBalancer: { image: notPulled },
  };
  await gardenClient.patch(refTo(CloudProfile, { name: "local" }), { spec: { providerConfig } });
  await gardenClient.patch(credentials, { data: { kubeconfig: await infrastructureKubeconfig(environment) } });
}

/** The Secret with the credentials of the Shoots of tests. */
export const credentials = refTo(Secret, { namespace: "garden-dev", name: "local" });

/** The kubeconfig of the cluster that has the infrastructure, in base64. */
export const infrastructureKubeconfig = async (environment: LocalEnvironment["environment"]): Promise<string> =>
  (await readFile(kubeconfigFile(environment, "seed-1"))).toString("base64");

/** The folder of the host below which an environment's buckets are, by their names: what is in one may be read by root only. */
export const bucketsFolder = ({ stateDir }: Pick<Environment, "stateDir">): string => join(stateDir, "buckets");

/**
 * Has its BackupBucket controller make its folders where the built-in provider, which makes the entries, looks for buckets.
 * A seed's machine sees that folder of the host at the same path.
 */
async function shareBuckets(environment: Environment): Promise<{ readonly containerMountPath: string }> {
  const folder = bucketsFolder(environment);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return { containerMountPath: folder };
}

const registrationFolder = "dev-setup/extensions/provider-local/components/controllerregistration";

/** Where images are; those that its charts deploy are named by an overwritten image vector, as its own deployment does it. */
const images = {
  image: `${upstreamRepositories["gardener-extension-provider-local"]}:v${versions.gardener}`,
  imageVectorOverwrite: {
    images: [
      imageOf("cloud-controller-manager-local", versions.gardener),
      imageOf("machine-controller-manager-provider-local", versions.gardener),
      imageOf("local-path-provisioner", versions.localPathProvisioner),
    ],
  },
};

function imageOf(name: keyof typeof upstreamRepositories, version: string) {
  return { name, repository: upstreamRepositories[name], tag: `v${version}` };
}

/** What the built-in provider serves where nothing is left to others. */
async function builtInKinds(): Promise<ReadonlySet<string>> {
  const [registration] = await readManifest("examples/controller-registration.yaml");
  const { resources = [] } = (registration as ControllerRegistration | undefined)?.spec ?? {};
  return new Set(resources.filter(({ type }) => type === "local").map(({ kind }) => kind));
}

/** The chart as it is in the module, packaged by Helm, in base64. */
async function packageModuleChart(module: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-upstream-chart-"));
  try {
    const chart = join(folder, "chart");
    await cp(join(module, "charts/gardener/provider-local"), chart, { recursive: true });
    await execa("chmod", ["-R", "u+w", chart]); // the module cache is read-only
    await execa(await findBinary("helm"), ["package", chart], { cwd: folder, env: { HOME: folder } });
    const [packaged = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
    return (await readFile(join(folder, packaged))).toString("base64");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
