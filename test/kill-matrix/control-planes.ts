import type { Ledger } from "./ledger.ts";
import type { Container, Pod, Programs } from "./kubelet.ts";
import type { EtcdData, Storage } from "./storage.ts";

/** What the pods of control planes do: API servers take clients' writes into etcd, Jobs work with snapshots of it. */
export interface ControlPlanes {
  /** The programs of one seed's pods. */
  programsOf(seed: string): Programs;
  /** Whether the Shoot's API server serves in this seed: it runs, and so does its etcd. */
  serves(seed: string, namespace: string): boolean;
  /** How many writes the Shoot's clients were told are done. */
  accepted(namespace: string): number;
  stop(): void;
}

/** Clients write to every API server that serves, as often as this, in ms. */
const WRITE_PERIOD = 20;

/** All seeds share one world, in which it shows when one Shoot has two API servers, or a write is lost. */
export function createControlPlanes(storage: Storage, ledger: Ledger): ControlPlanes {
  const running = new Map<string, Map<string, string>>(); // by `seed/namespace`: component by pod
  const accepted = new Map<string, number>();

  const runs = (place: string, component: string) => [...(running.get(place)?.values() ?? [])].includes(component);
  const serves = (seed: string, namespace: string) =>
    runs(`${seed}/${namespace}`, API_SERVER) && runs(`${seed}/${namespace}`, ETCD);

  const write = (place: string) => {
    const [seed = "", namespace = ""] = place.split("/");
    if (!serves(seed, namespace)) return;
    const volume = storage.files({ seed, namespace, claim: DATA });
    const { revision, writes } = volume.get(LIVE) ?? { revision: 1, writes: 0 };
    const known = accepted.get(namespace) ?? 0;
    if (writes < known) ledger.fault(namespace, `the API server in ${seed} has lost ${known - writes} writes`);
    volume.set(LIVE, { revision: revision + 1, writes: writes + 1 });
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
    programsOf: (seed) => ({
      run: async (pod, container) =>
        runProgram({ storage, runsEtcd: () => runs(`${seed}/${pod.metadata.namespace}`, ETCD) }, seed, pod, container),
      changed: (pod, isRunning) => changed(seed, pod, isRunning),
      released: (namespace, claim) => storage.release({ seed, namespace, claim }),
    }),
    serves,
    accepted: (namespace) => accepted.get(namespace) ?? 0,
    stop: () => clearInterval(timer),
  };
}

const API_SERVER = "kube-apiserver";
const ETCD = "etcd-main";

/** The claim and the file that etcd-main keeps its data in. */
const DATA = "main-etcd-etcd-main-0";
const LIVE = "new.etcd";

function componentOf({ app, role }: Readonly<Record<string, string>>): string | undefined {
  if (app === "kubernetes" && role === "apiserver") return API_SERVER;
  return app === "etcd-statefulset" && role === "main" ? ETCD : undefined;
}

interface World {
  readonly storage: Storage;
  readonly runsEtcd: () => boolean;
}

/** `etcdctl snapshot save`, `etcdutl snapshot status` and `etcdutl snapshot restore`; anything else does nothing, well. */
function runProgram({ storage, runsEtcd }: World, seed: string, pod: Pod, container: Container): string {
  const words = [...(container.command ?? []), ...(container.args ?? [])].map((word) => expand(word, pod, container));
  const [verb, file = ""] = argumentsAfter(words, "snapshot");
  if (verb === undefined) return "";
  const found = resolve(seed, pod, container, file);
  const files = storage.files(found);
  if (verb === "save") {
    const live = storage.files({ ...found, claim: DATA }).get(LIVE);
    if (!runsEtcd()) throw new Error("etcd does not run");
    files.set(found.path, live ?? { revision: 1, writes: 0 });
    return "";
  }
  const data = files.get(found.path);
  if (data === undefined) throw new Error(`there is no snapshot ${file}`);
  if (verb === "status") return `${JSON.stringify(statusOf(data))}\n`;
  if (verb === "restore") restore(storage.files({ ...found, claim: DATA }), bumped(data, words));
  return "";
}

function restore(volume: Map<string, EtcdData>, data: EtcdData): void {
  if (volume.has(LIVE)) throw new Error("the data directory is not empty");
  volume.set(LIVE, data);
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
    const path = (variable?.valueFrom as { fieldRef?: { fieldPath?: string } } | undefined)?.fieldRef?.fieldPath;
    if (path === "metadata.name") return metadata.name;
    return path === "metadata.namespace" ? (metadata.namespace ?? "") : (variable?.value ?? all);
  });
}

/** The claim that a path of a container is in, and the path there. */
function resolve(seed: string, pod: Pod, { volumeMounts = [] }: Container, file: string) {
  const mount = volumeMounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
  const volume = pod.spec.volumes?.find(({ name }) => name === mount?.name);
  const claim = volume?.persistentVolumeClaim?.claimName;
  if (mount === undefined || claim === undefined) throw new Error(`${file} is in no volume claim`);
  return { seed, namespace: pod.metadata.namespace ?? "", claim, path: file.slice(mount.mountPath.length + 1) };
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
