import { Shoot, type CredentialsBinding } from "../../src/api/index.ts";
import type { LastError } from "../../src/api/schema/meta.ts";
import type { FlowProgress, ShootRef, StepProgress } from "../../src/api/shoot/run.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { refTo } from "../../src/kube/index.ts";
import { flowWorkflowId, type FlowKind } from "../../src/workflows/contract.ts";
import { eventually } from "./eventually.ts";
import { exampleObjects } from "./examples.ts";
import type { LocalEnvironment, SeedName } from "./local-environment.ts";

/** How a Shoot of a test differs from the one in deploy/examples. */
export interface ShootOverrides {
  readonly name: string;
  /** No worker pools: everything that needs machines is left out, which is much faster. */
  readonly workerless?: boolean;
  /** How many nodes it has; as the example unless told otherwise. */
  readonly nodes?: number;
  readonly cloudProfile?: string;
  readonly credentials?: string;
  /** Type of the extension that manages the Shoot's own domain; the seed's unless told otherwise. */
  readonly dnsType?: string;
  /** The zone of that domain, which the environment's DNS server answers for; one that nobody knows unless told. */
  readonly dnsZone?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Has an Extension for each phase, a container runtime, and the ConfigMap of {@link applyWords} for them. */
  readonly extended?: boolean;
  /** Types of Extensions that it asks for. */
  readonly extensions?: readonly string[];
}

/** A Shoot in the garden, as its users see and handle it. */
export interface TestShoot {
  readonly name: string;
  readonly ref: ShootRef;
  /** Its namespace in the seed. */
  readonly technicalID: string;
  /** The names that its API server is found under. */
  readonly hosts: readonly string[];
  read(): Promise<Shoot | undefined>;
  annotate(annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** Confirms and asks for the deletion. */
  remove(): Promise<void>;
  /** Waits for a state of the last operation; fails early on any of `unless`. */
  settles(state: string, type?: string, timeout?: number): Promise<Shoot>;
  gone(timeout?: number): Promise<void>;
  /** Waits until a step of the running operation has begun, and returns it. */
  begun(step: string, timeout?: number): Promise<StepProgress>;
  progress(): Promise<FlowProgress | undefined>;
  lastErrors(): Promise<readonly LastError[]>;
  /** Activities that the operation's latest run scheduled, in order: `<activity id> <activity type>`. */
  activities(kind: FlowKind): Promise<string[]>;
}

/** The namespace of the example project. */
export const projectNamespace = "garden-dev";

/** Applies the example Shoot, changed as wished and fitted to the environment. */
export async function createShoot(local: LocalEnvironment, overrides: ShootOverrides): Promise<TestShoot> {
  const applied = await local.gardenClient.apply<Shoot>(await renderShoot(local, overrides), { fieldManager: "test" });
  return handle(local, applied, overrides.dnsZone);
}

/** A Shoot that something else than a test has made in the example project. */
export async function findTestShoot(local: LocalEnvironment, name: string): Promise<TestShoot> {
  const shoot = await local.gardenClient.read(refTo(Shoot, { namespace: projectNamespace, name }));
  if (shoot === undefined) throw new Error(`there is no Shoot ${projectNamespace}/${name}`);
  return handle(local, shoot);
}

/** Where a Shoot is, and the Seed beside it. */
export async function seedsOf(
  shoot: Pick<TestShoot, "read">,
): Promise<{ readonly from: SeedName; readonly to: SeedName }> {
  const isOnFirst = (await shoot.read())?.status?.leadership?.seed === "seed-1";
  return isOnFirst ? { from: "seed-1", to: "seed-2" } : { from: "seed-2", to: "seed-1" };
}

/** Applies the ConfigMap to which extended Shoots refer. */
export const applyWords = (local: LocalEnvironment): Promise<object> =>
  local.gardenClient.apply({
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "words", namespace: projectNamespace } },
    data: { text: "from the garden" },
  });

/** What the local provider has besides machines, asked for by a Shoot. */
const extended = {
  resources: [{ name: "words", resourceRef: { apiVersion: "v1", kind: "ConfigMap", name: "words" } }],
  extensions: [
    { type: "local-note-seed", providerConfig: { textFrom: "words" } },
    { type: "local-note-shoot", providerConfig: { textFrom: "words" } },
    { type: "local-note-nodes", providerConfig: { text: "of its own" } },
  ],
};
const cri = { name: "containerd", containerRuntimes: [{ type: "local-runc" }] };

/** A CredentialsBinding for the local provider that refers to this Secret, whether there is one or not. */
export function credentialsBinding(name: string, secret: string): CredentialsBinding {
  return {
    apiVersion: "security.gardener.cloud/v1alpha1",
    kind: "CredentialsBinding",
    metadata: { name, namespace: projectNamespace },
    provider: { type: "local" },
    credentialsRef: { apiVersion: "v1", kind: "Secret", name: secret, namespace: projectNamespace },
  };
}

async function renderShoot({ environment }: LocalEnvironment, overrides: ShootOverrides): Promise<Shoot> {
  const { name, workerless = false, cloudProfile = "local", credentials = "local", annotations = {} } = overrides;
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot | undefined;
  if (example === undefined) throw new Error("deploy/examples has no Shoot");
  const { credentialsBindingName: _, networking, provider, ...spec } = example.spec;
  return {
    ...example,
    metadata: { name, namespace: projectNamespace, annotations: { ...annotations } },
    spec: {
      ...spec,
      cloudProfile: { kind: "CloudProfile", name: cloudProfile },
      dns: renderDns(environment, overrides),
      // Shared address space: nobody's seed and no host's network is there.
      ...(workerless
        ? { provider: { type: provider.type } }
        : {
            credentialsBindingName: credentials,
            networking: { ...networking, pods: "100.64.0.0/16", services: "100.65.0.0/16", nodes: environment.network },
            provider: { ...provider, workers: (provider.workers ?? []).map((pool) => renderPool(pool, overrides)) },
          }),
      ...(overrides.extended ? extended : {}),
      ...(overrides.extensions && { extensions: overrides.extensions.map((type) => ({ type })) }),
    },
  };
}

function renderPool<Pool extends object>(pool: Pool, { nodes, extended }: ShootOverrides): Pool {
  const size = nodes === undefined ? {} : { minimum: nodes, maximum: nodes };
  return { ...pool, ...size, ...(extended ? { cri } : {}) };
}

/** A default domain is the seed's to write; a provider of one's own needs a domain of one's own. */
function renderDns(environment: Environment, { name, dnsType: type, dnsZone = `${type}.test` }: ShootOverrides) {
  if (type === undefined) return { domain: `${name}.dev.${environment.domain}` };
  return { domain: `${name}.${dnsZone}`, providers: [{ type, secretName: "local", primary: true }] };
}

function handle(local: LocalEnvironment, { metadata }: Shoot, zone = `dev.${local.environment.domain}`): TestShoot {
  const { gardenClient, shoots, temporal, environment } = local;
  const { name, namespace, uid = "" } = metadata;
  const shootRef = refTo(Shoot, { namespace, name });
  const ref = { namespace, name, uid };
  const read = () => gardenClient.read(shootRef);
  const annotate: TestShoot["annotate"] = async (annotations) => {
    await gardenClient.patch(shootRef, { metadata: { annotations } });
  };

  return {
    ...{ name, ref, read, annotate },
    technicalID: `shoot--dev--${name}`,
    hosts: [`api.${name}.${zone}`, `api.${name}.dev.internal.${environment.domain}`],
    async remove() {
      await annotate({ "confirmation.gardener.cloud/deletion": "true" });
      await gardenClient.remove(shootRef, { uid });
    },
    settles: async (state, type, timeout = 120_000) =>
      eventually(async () => {
        const shoot = await read();
        const { lastOperation, lastErrors } = shoot?.status ?? {};
        if (shoot && lastOperation?.state === state && (type ?? lastOperation.type) === lastOperation.type)
          return shoot;
        throw new Error(`Shoot ${name} is not ${state}: ${JSON.stringify({ lastOperation, lastErrors })}`);
      }, timeout),
    gone: async (timeout = 150_000) =>
      eventually(async () => {
        const shoot = await read();
        if (shoot?.metadata.uid !== uid) return;
        throw new Error(`Shoot ${name} is still there: ${JSON.stringify(shoot.status?.lastOperation)}`);
      }, timeout),
    begun: async (step, timeout = 90_000) =>
      eventually(async () => {
        const found = (await shoots.progress(ref))?.steps.find((one) => one.name === step);
        if (found && found.state !== "pending") return found;
        throw new Error(`step ${step} of Shoot ${name} has not begun`);
      }, timeout),
    progress: () => shoots.progress(ref),
    lastErrors: async () => (await read())?.status?.lastErrors ?? [],
    async activities(kind) {
      const { events } = await temporal.workflow.getHandle(flowWorkflowId(ref, kind)).fetchHistory();
      return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [`${scheduled.activityId} ${scheduled.activityType?.name}`] : [],
      );
    },
  };
}
