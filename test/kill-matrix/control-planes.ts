import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PersistentVolume, PersistentVolumeClaim, type KubeClient, type NamespacedKey } from "../../src/kube/index.ts";
import type { Container, Pod, Programs } from "./kubelet.ts";
import type { Ledger } from "./ledger.ts";
import type { EtcdData, Place, Volumes } from "./volumes.ts";

/** What the pods of control planes do: API servers take clients' writes into etcd, Jobs work with snapshots of it. */
export interface ControlPlanes {
  /** The programs of one seed's pods. */
  programsOf(seed: string, client: KubeClient): Programs;
  /** Whether the Shoot's API server serves in this seed: it runs, and so does its etcd. */
  serves(place: Place): boolean;
  /** How many writes the Shoot's clients were told are done. */
  accepted(namespace: string): number;
  stop(): void;
}

/** Clients write to every API server that serves, as often as this, in ms. */
const WRITE_PERIOD = 20;

/** All seeds share one world, in which it shows when one Shoot has two API servers, or a write is lost. */
export function createControlPlanes(volumes: Volumes, ledger: Ledger): ControlPlanes {
  const running = new Map<string, Map<string, string>>(); // by `seed/namespace`: component by pod
  const accepted = new Map<string, number>();

  const runs = (place: string, component: string) => [...(running.get(place)?.values() ?? [])].includes(component);
  const serves = ({ seed, namespace }: Place) =>
    [API_SERVER, ETCD].every((component) => runs(`${seed}/${namespace}`, component));

  const write = (path: string) => {
    const [seed = "", namespace = ""] = path.split("/");
    const place = { seed, namespace };
    if (!serves(place)) return;
    const { revision, writes } = volumes.read(place) ?? empty;
    const known = accepted.get(namespace) ?? 0;
    if (writes < known) ledger.fault(namespace, `the API server in ${seed} has lost ${known - writes} writes`);
    volumes.write(place, { revision: revision + 1, writes: writes + 1 });
    accepted.set(namespace, Math.max(known, writes + 1));
  };
  const timer = setInterval(() => [...running.keys()].forEach(write), WRITE_PERIOD);

  const changed = (seed: string, pod: Pod, isRunning: boolean) => {
    const { namespace = "", name, labels = {} } = pod.metadata;
    const component = componentOf(labels);
    if (component === undefined) return;
    const place = `${seed}/${namespace}`;
    const pods = running.get(place) ?? new Map<string, string>();
    running.set(place, pods);
    if (isRunning) pods.set(name, component);
    else pods.delete(name);
    const elsewhere = [...running.keys()].find(
      (other) => other !== place && other.endsWith(`/${namespace}`) && runs(other, component),
    );
    if (isRunning && elsewhere !== undefined)
      ledger.fault(namespace, `${component} of the Shoot began in ${seed} while it ran in ${elsewhere.split("/")[0]}`);
  };

  return {
    programsOf: (seed, client) => ({
      run: async (pod, container) => {
        const place = { seed, namespace: pod.metadata.namespace ?? "" };
        const runsEtcd = runs(`${seed}/${place.namespace}`, ETCD);
        return runProgram({ client, volumes, place, runsEtcd }, pod, container);
      },
      changed: (pod, isRunning) => changed(seed, pod, isRunning),
      released: (namespace, claim) => void (claim === DATA && volumes.release({ seed, namespace })),
    }),
    serves,
    accepted: (namespace) => accepted.get(namespace) ?? 0,
    stop: () => clearInterval(timer),
  };
}

const API_SERVER = "kube-apiserver";
const ETCD = "etcd-main";

/** The claim that etcd-main keeps its data in. */
const DATA = "main-etcd-etcd-main-0";

const empty: EtcdData = { revision: 1, writes: 0 };

function componentOf({ app, role }: Readonly<Record<string, string>>): string | undefined {
  if (app === "kubernetes" && role === "apiserver") return API_SERVER;
  return app === "etcd-statefulset" && role === "main" ? ETCD : undefined;
}

interface World {
  readonly client: KubeClient;
  readonly volumes: Volumes;
  readonly place: Place;
  readonly runsEtcd: boolean;
}

/** `etcdctl snapshot save`, `etcdutl snapshot status` and `etcdutl snapshot restore`; anything else does nothing, well. */
async function runProgram(world: World, pod: Pod, container: Container): Promise<string> {
  const words = [...(container.command ?? []), ...(container.args ?? [])].map((word) => expand(word, pod, container));
  const [verb, path = ""] = argumentsAfter(words, "snapshot");
  if (verb === undefined) return "";
  const file = await resolve(world, pod, container, path);
  if (verb === "save") return save(world, file);
  const data = JSON.parse(await readFile(file, "utf8")) as EtcdData;
  return verb === "restore" ? restore(world, bumped(data, words)) : `${JSON.stringify(statusOf(data))}\n`;
}

async function save({ volumes, place, runsEtcd }: World, file: string): Promise<string> {
  if (!runsEtcd) throw new Error("etcd does not run");
  await writeFile(`${file}.part`, JSON.stringify(volumes.read(place) ?? empty));
  await rename(`${file}.part`, file);
  return "";
}

function restore({ volumes, place }: World, data: EtcdData): string {
  if (volumes.read(place) !== undefined) throw new Error("the data directory is not empty");
  volumes.write(place, data);
  return "";
}

/** What follows a word, without flags. */
function argumentsAfter(words: readonly string[], word: string): string[] {
  const index = words.indexOf(word);
  return index < 0 ? [] : words.slice(index + 1).filter((one) => !one.startsWith("-"));
}

/** As the kubelet does with `$(NAME)`: values, and the pod's own name and namespace. */
function expand(word: string, { metadata }: Pod, { env = [] }: Container): string {
  return word.replaceAll(/\$\((\w+)\)/g, (all, name: string) => {
    const variable = env.find((one) => one.name === name);
    const path = variable?.valueFrom?.fieldRef?.fieldPath;
    if (path === "metadata.name") return metadata.name;
    return path === "metadata.namespace" ? (metadata.namespace ?? "") : (variable?.value ?? all);
  });
}

/** The file on this machine that a container knows by a path in a volume. */
async function resolve({ client }: World, pod: Pod, { volumeMounts = [] }: Container, file: string): Promise<string> {
  const mount = volumeMounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
  const claimName = pod.spec.volumes?.find(({ name }) => name === mount?.name)?.persistentVolumeClaim?.claimName;
  if (mount === undefined || claimName === undefined) throw new Error(`${file} is in no volume claim`);
  const volume = await volumeOf(client, { namespace: pod.metadata.namespace, name: claimName });
  return join(volume.spec.hostPath?.path ?? "", file.slice(mount.mountPath.length));
}

async function volumeOf(client: KubeClient, claim: NamespacedKey): Promise<PersistentVolume> {
  const { volumeName = "" } = (await client.read(PersistentVolumeClaim, claim))?.spec ?? {};
  const volume = await client.read(PersistentVolume, { name: volumeName });
  if (volume === undefined) throw new Error(`claim ${claim.namespace}/${claim.name} has no volume`);
  return volume;
}

const statusOf = ({ revision, writes }: EtcdData) => ({
  hash: (revision * 31 + writes) % 2 ** 32,
  revision,
  totalKey: writes + 1,
  totalSize: 20_480,
});

function bumped({ revision, writes }: EtcdData, words: readonly string[]): EtcdData {
  const flag = words.findIndex((word) => word.startsWith("--bump-revision"));
  if (flag < 0) return { revision, writes };
  const [, value = words[flag + 1]] = (words[flag] ?? "").split("=");
  return { revision: revision + Number(value), writes };
}
