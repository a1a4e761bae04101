import { ControllerInstallation, ControllerRegistration, type KubeObject } from "../../src/api/index.ts";
import { refTo, type KubeClient, type Logger } from "../../src/extension/index.ts";

/** The garden, and a client for each Seed that this operator installs on, by the Seed's name. */
export interface ManifestOperatorDeps {
  readonly gardenClient: KubeClient;
  readonly seeds: ReadonlyMap<string, KubeClient>;
  readonly log: Logger;
}

/**
 * An operator for registrations of type `manifests`, whose providerConfig lists the objects to apply: it acts on the
 * installations that Perennial writes, says in their status how they are, and takes the objects away with them.
 */
export function createManifestOperator({ gardenClient, seeds, log }: ManifestOperatorDeps) {
  const reconcile = async (installation: ControllerInstallation) => {
    const { metadata, spec } = installation;
    const seedClient = seeds.get(spec.seedRef?.name ?? "");
    const registration = await gardenClient.read(ControllerRegistration, { name: spec.registrationRef.name ?? "" });
    if (seedClient === undefined || registration?.spec.deployment?.type !== TYPE) return;
    const objects = objectsOf(registration);
    if (metadata.deletionTimestamp === undefined) await install(installation, seedClient, objects);
    else await remove(installation, seedClient, objects ?? []);
  };

  const install = async (
    installation: ControllerInstallation,
    seedClient: KubeClient,
    objects: readonly KubeObject[] | undefined,
  ) => {
    const { metadata } = installation;
    // What Perennial has installed before it was ours goes first: no two controllers act at once.
    if (metadata.finalizers?.includes(PERENNIAL_FINALIZER)) return;
    await hold(installation, true);
    if (objects === undefined)
      return await report(installation, ["False", "providerConfig.manifests is no list of objects"]);
    for (const object of objects) await seedClient.apply(object, { fieldManager: "manifest-operator" });
    await report(installation, ["True", "all manifests are applied"], { applied: objects.length });
    log.info({ installation: installation.metadata.name }, "manifests applied");
  };

  const remove = async (
    installation: ControllerInstallation,
    seedClient: KubeClient,
    objects: readonly KubeObject[],
  ) => {
    for (const { apiVersion, kind, metadata } of objects) {
      const { name, namespace } = metadata;
      await seedClient.remove({ apiVersion, kind, name, ...(namespace && { namespace }) });
    }
    await hold(installation, false);
  };

  /** The installation stays until its objects are gone. */
  const hold = async ({ metadata }: ControllerInstallation, held: boolean) => {
    const { name, resourceVersion, finalizers = [] } = metadata;
    if (finalizers.includes(FINALIZER) === held) return;
    const others = finalizers.filter((one) => one !== FINALIZER);
    const patch = { metadata: { resourceVersion, finalizers: held ? [...others, FINALIZER] : others } };
    await gardenClient.patch(refTo(ControllerInstallation, { name }), patch);
  };

  /** Both shapes of a report: what is wrong with the registration, or that all is there. */
  const report = async (
    { metadata, spec }: ControllerInstallation,
    [valid, message]: readonly ["True" | "False", string],
    providerStatus?: Record<string, unknown>,
  ) => {
    const at = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    const times = { lastTransitionTime: at, lastUpdateTime: at };
    const progressing = valid === "True" ? "False" : "True";
    const conditions = [
      { ...times, type: "Valid", status: valid, reason: "RegistrationValid", message },
      { ...times, type: "Installed", status: valid, reason: "InstallationSuccessful", message },
      { ...times, type: "Healthy", status: valid, reason: "ControllerHealthy", message },
      { ...times, type: "Progressing", status: progressing, reason: "ControllerRolledOut", message },
    ] as const;
    await gardenClient.applyStatus<ControllerInstallation>(
      {
        apiVersion: "core.gardener.cloud/v1beta1",
        kind: "ControllerInstallation",
        metadata: { name: metadata.name },
        spec,
        status: { conditions: [...conditions], ...(providerStatus && { providerStatus }) },
      },
      { fieldManager: "manifest-operator" },
    );
  };

  return {
    /** Acts on every installation once. A real operator watches them. */
    async round(): Promise<void> {
      for (const installation of await gardenClient.list(ControllerInstallation)) await reconcile(installation);
    },
  };
}

const TYPE = "manifests";
const FINALIZER = "example.org/manifest-operator";
const PERENNIAL_FINALIZER = "core.gardener.cloud/controllerinstallation";

function objectsOf({ spec }: ControllerRegistration): KubeObject[] | undefined {
  const manifests = spec.deployment?.providerConfig?.["manifests"];
  return Array.isArray(manifests) ? (manifests as KubeObject[]) : undefined;
}
