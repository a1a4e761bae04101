import { isDeepStrictEqual } from "node:util";
import semver from "semver";
import { readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { Shoot, type CloudProfile, type KubeObject, type Seed } from "../../api/index.ts";
import { completeName, type JsonPatchOperation, type KubeClient } from "../../kube/index.ts";
import { creatorPatch } from "../creator.ts";
import { migrationAnnotationPatch } from "../migration-annotations.ts";
import { judge, type AdmissionRequest, type Answer, type Webhook } from "../review.ts";
import { identityOf, type Identity } from "../metadata.ts";
import { withExposureClass } from "./exposure-class.ts";
import { extensionLabelPatch } from "./extension-labels.ts";
import { changedFields, formCauses } from "./forms.ts";
import type { MinorRange } from "../../api/shoot/kubernetes-versions.ts";
import type { Registrations } from "./registrations.ts";
import { withDefaultTolerations } from "./tolerations.ts";
import { offeredVersions } from "./version.ts";
import { readSeed } from "./change.ts";

/**
 * Fills in what depends on other objects (the schema fills in the rest): a full Kubernetes version, machine images,
 * networks and domain that the Seed suggests, what its ExposureClass asks of Seeds, labels for the types of its extensions, who created the Shoot, and who
 * approved a takeover. Touches nothing else that the user has set, and of a Shoot that is being deleted only the approval. Texts
 * without the form that they need are refused here, in words, because the schema is checked next.
 */
export function createShootDefaulter(deps: ShootDefaulterDeps): Webhook {
  return async (request) => {
    const time = deps.now?.() ?? new Date();
    const name = nameFor(identityOf(request.object));
    const written = [...namePatch(request, name), ...creatorPatch(request), ...migrationAnnotationPatch(request, time)];
    const { data: shoot } = Shoot.schema.safeParse(withVersionAndName(request.object, name));
    if (shoot?.metadata.deletionTimestamp !== undefined) return { allowed: true, patch: written };
    const malformed = formCauses(changedFields(request.object?.["spec"], request.oldObject?.["spec"]));
    if (malformed.length > 0) return judge(malformed);
    // The schema is checked after this; what it will refuse needs no defaults.
    return shoot ? fillIn(deps, request, shoot, { time, written }) : { allowed: true, patch: written };
  };
}

interface ShootDefaulterDeps {
  readonly client: KubeClient;
  readonly registrations: Registrations;
  readonly minors?: MinorRange | undefined;
  readonly now?: () => Date;
}

interface Writing {
  readonly time: Date;
  /** What is written in any case. */
  readonly written: readonly JsonPatchOperation[];
}

async function fillIn(
  { client, registrations, minors }: ShootDefaulterDeps,
  request: AdmissionRequest,
  shoot: Shoot,
  { time, written }: Writing,
): Promise<Answer> {
  if (isDeepStrictEqual(shoot.spec, request.oldObject?.["spec"])) return { allowed: true, patch: written };
  const named = withExtensionSwitches(withCloudProfile(shoot.spec));
  const withNames = { ...shoot, spec: named };
  const [profile, seed] = await Promise.all([readEffectiveProfile(client, withNames), readSeed(client, withNames)]);
  const versioned = profile ? withVersions(named, createNewest(profile, time, minors)) : named;
  const { name, project } = await readNamespaceProject(client, shoot.metadata.namespace);
  const tolerations =
    request.operation === "CREATE" && withDefaultTolerations(versioned.tolerations, project?.spec.tolerations);
  const isNew = request.operation === "CREATE" || isFirstBinding(request, shoot);
  const tolerant = { ...versioned, ...(tolerations && { tolerations: [...tolerations] }) };
  const complete = await withExposureClass(client, tolerant, request.oldObject?.["spec"] as Spec | undefined);
  const spec = isNew ? onCreation({ ...shoot, spec: complete }, name, seed) : complete;
  return {
    allowed: true,
    patch: [
      ...specPatch(request.object?.["spec"], spec),
      ...(await extensionLabelPatch(registrations, { ...shoot, spec })),
      ...written,
    ],
  };
}

type Spec = Shoot["spec"];

/** A Shoot that got no Seed when it was created gets what the Seed suggests when it gets one. */
function isFirstBinding({ oldObject }: AdmissionRequest, { spec }: Shoot): boolean {
  return Boolean(spec.seedName) && !(oldObject?.["spec"] as Partial<Spec> | undefined)?.seedName;
}

/** Users may leave the version to us, so that at this point a Shoot may have none. */
function withVersionAndName(object: KubeObject | undefined, name: string): unknown {
  const spec = object?.["spec"] as Partial<Spec> | undefined;
  const metadata = { ...object?.metadata, name };
  return { ...object, metadata, spec: { ...spec, kubernetes: { version: "", ...spec?.kubernetes } } };
}

/** The name, also where the user has left its end to the API server, which would complete it after the Shoot's domain. */
const nameFor = ({ name, generateName }: Identity): string => name || (generateName ? completeName(generateName) : "");

const namePatch = ({ object }: AdmissionRequest, name: string): JsonPatchOperation[] =>
  name === (identityOf(object).name ?? "") ? [] : [{ op: "add", path: "/metadata/name", value: name }];

function withCloudProfile(spec: Spec): Spec {
  if (spec.cloudProfile || !spec.cloudProfileName) return spec;
  return { ...spec, cloudProfile: { kind: "CloudProfile", name: spec.cloudProfileName } };
}

/** GEP-1 switches an extension off by `enabled: false`, Gardener by `disabled: true`. */
function withExtensionSwitches(spec: Spec): Spec {
  const extensions = spec.extensions as readonly (Extension & { readonly enabled?: unknown })[] | undefined;
  if (!extensions?.some(({ enabled }) => typeof enabled === "boolean")) return spec;
  return {
    ...spec,
    extensions: extensions.map((extension) => {
      const { enabled, ...rest } = extension;
      if (typeof enabled !== "boolean") return extension;
      return enabled ? rest : { ...rest, disabled: true };
    }),
  };
}

type Extension = NonNullable<Spec["extensions"]>[number];

function withVersions(spec: Spec, newest: Newest): Spec {
  const { kubernetes, provider } = spec;
  const version = newest.version(kubernetes.version);
  const workers = provider.workers?.map((pool) => withKubelet(withImage(pool, newest), newest));
  return {
    ...spec,
    kubernetes: { ...kubernetes, version },
    provider: { ...provider, ...(workers && { workers }) },
  };
}

/** What a profile offers newest. Offers are sorted once, however many pools there are. */
interface Newest {
  /** `1.34` becomes the latest supported patch version of it, nothing becomes the latest of all: neither a preview nor deprecated. */
  version(wanted: string): string;
  /** The image of this name, or the first of all, in its latest version; undefined where the profile does not offer it. */
  image(name: string | undefined): { readonly name: string; readonly version: string } | undefined;
}

function createNewest({ spec }: CloudProfile, now: Date, minors: MinorRange | undefined): Newest {
  const classified = new Map(spec.kubernetes.versions?.map((one) => [one.version, one.classification]));
  const supported = offeredVersions({ spec }, now, minors).filter((one) =>
    ["supported", undefined].includes(classified.get(one)),
  );
  const images = new Map(
    [...spec.machineImages].reverse().map(({ name, versions }) => [name, newestOf(versions)] as const),
  );
  return {
    version(wanted) {
      if (/^\d+\.\d+\./.test(wanted)) return wanted;
      return supported.find((one) => wanted === "" || one.startsWith(`${wanted}.`)) ?? wanted;
    },
    image(wanted) {
      const name = wanted ?? spec.machineImages[0]?.name ?? "";
      const version = images.get(name);
      return version === undefined ? undefined : { name, version };
    },
  };
}

type ImageVersions = CloudProfile["spec"]["machineImages"][number]["versions"];

const newestOf = (versions: ImageVersions): string | undefined =>
  versions
    .filter(({ expirationDate, classification }) => expirationDate === undefined && classification !== "preview")
    .map(({ version }) => ({ version, parsed: semver.coerce(version) ?? "0.0.0" }))
    .sort((a, b) => semver.compare(b.parsed, a.parsed))[0]?.version;

function withKubelet(pool: WorkerPool, newest: Newest): WorkerPool {
  const wanted = pool.kubernetes?.version;
  if (wanted === undefined) return pool;
  return { ...pool, kubernetes: { ...pool.kubernetes, version: newest.version(wanted) } };
}

type WorkerPool = NonNullable<Spec["provider"]["workers"]>[number];

function withImage(pool: WorkerPool, newest: Newest): WorkerPool {
  const image = newest.image(pool.machine.image?.name);
  if (!image || pool.machine.image?.version) return pool;
  return { ...pool, machine: { ...pool.machine, image: { ...pool.machine.image, ...image } } };
}

function onCreation({ spec, metadata }: Shoot, project: string, seed: Seed | undefined): Spec {
  if ((spec.provider.workers ?? []).length === 0) return spec;
  const { kubeProxy, kubeControllerManager } = spec.kubernetes;
  const suggested = seed?.spec.networks.shootDefaults;
  const domain = spec.dns?.domain ?? suggestedDomain(metadata.name, project, seed);
  return {
    ...spec,
    kubernetes: {
      ...spec.kubernetes,
      kubeProxy: { enabled: true, mode: "IPTables", ...kubeProxy },
      kubeControllerManager: { nodeCIDRMaskSize: 24, ...kubeControllerManager },
    },
    networking: { ...suggested, ...spec.networking },
    ...(domain && { dns: { ...spec.dns, domain } }),
  };
}

function suggestedDomain(name: string, project: string, seed: Seed | undefined): string | undefined {
  const parent = seed?.spec.dns.defaults?.[0]?.domain;
  return parent && `${name}.${project}.${parent}`;
}

function specPatch(before: unknown, spec: Spec): JsonPatchOperation[] {
  return isDeepStrictEqual(before, spec) ? [] : [{ op: "replace", path: "/spec", value: spec }];
}
