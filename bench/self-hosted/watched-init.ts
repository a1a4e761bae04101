import { setTimeout as sleep } from "node:timers/promises";
import { Pod } from "../../src/kube/index.ts";
import { CONFIGURATION, until, type MachineGround } from "./ground.ts";
import { hello } from "./hello.ts";

/** What a run of `gardenadm init` took. */
export interface InitCost {
  /** From its start to its end; ms. */
  readonly command: number;
  /** From its start until a pod runs and a name of the cluster is answered, too; ms. */
  readonly usable: number;
  /** The most resident memory that it had; MB. */
  readonly memory: number;
  /** Its processor time, and that of the programs that it has run; ms. */
  readonly cpu: number;
  /** In which no step of those ran that wait for others; ms. */
  readonly own: number;
}

/** Runs `gardenadm init`, and a pod once there is a cluster. */
export async function watchInit(ground: MachineGround, name: string): Promise<InitCost> {
  const before = (await readJournalLines(ground, name)).length;
  const begun = performance.now();
  const seen = await ground.run(name, ["bash", "-c", WATCHED, "watched", CONFIGURATION]);
  const command = performance.now() - begun;
  await untilUsable(ground, name);
  const usable = performance.now() - begun;
  const [memory, ticks] = readSamples(seen);
  const lines = (await readJournalLines(ground, name)).slice(before);
  return { command, usable, memory, cpu: ticks * 10, own: Math.max(0, command - waited(lines)) };
}

/** Runs a pod on the machine, and resolves when it is ready and a name of the cluster is answered. */
export async function untilUsable(ground: MachineGround, name: string): Promise<void> {
  const client = await ground.client(name);
  try {
    // Its namespace gets an account a moment after the cluster has begun. One that is there is not written again, which would count.
    const isThere = async () => (await client.read(Pod, HELLO)) !== undefined;
    await until(async () => (await isThere()) || (await client.apply(hello(name)).then(Boolean, () => false)));
    await Promise.all([podRuns(ground, name), nameAnswers(ground, name)]);
  } finally {
    await client.close();
  }
}

/** The program is what the shell becomes; its last sample is from less than a tenth of a second before its end. */
const WATCHED = `
gardenadm init -d "$1" >/dev/null & pid=$!
while kill -0 $pid 2>/dev/null; do
  grep VmHWM /proc/$pid/status; cut -d ' ' -f 14-17 /proc/$pid/stat | sed 's/^/ticks /'
  sleep 0.1
done 2>/dev/null
wait $pid
`;

/** The highest of all samples: MB, and hundredths of a second. */
function readSamples(text: string): [memory: number, ticks: number] {
  const memory = [...text.matchAll(/VmHWM:\s+(\d+)/g)].map(([, kilobytes]) => Number(kilobytes) / 1_024);
  const ticks = [...text.matchAll(/^ticks (.+)$/gm)].map(([, four = ""]) =>
    four.split(" ").reduce((sum, each) => sum + Number(each), 0),
  );
  return [Math.round(Math.max(...memory)), Math.max(...ticks)];
}

interface Line {
  readonly time: string;
  readonly step: string;
  readonly state: string;
}

async function readJournalLines({ machines }: MachineGround, name: string): Promise<Line[]> {
  const { stdout } = await machines.exec(name, ["cat", "/var/lib/gardenadm/journal"]);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** How long at least one step ran that waits for a kubelet, for pods or for the API server; ms. */
function waited(lines: readonly Line[]): number {
  const running = new Set<string>();
  let [sum, since] = [0, 0];
  for (const { time, step, state } of lines.filter((line) => WAITING.has(line.step))) {
    const at = Date.parse(time);
    if (running.size === 0) since = at;
    if (state === "running" || state === "retrying") running.add(step);
    else running.delete(step);
    if (running.size === 0) sum += at - since;
  }
  return sum;
}

const WAITING = new Set([
  ...["kubelet", "etcd", "kubeApiServer", "kubeControllerManager", "kubeScheduler", "crds", "nodeAgent"],
  ...["resourceManager", "extensions", "network", "coreDns", "resourceManagerInPods", "extensionsInPods"],
  ...["controlPlane", "operatingSystemConfig", "staticPods", "nodesReady", "routes", "imported"],
]);

const HELLO = { namespace: "default", name: "hello" };

async function podRuns(ground: MachineGround, name: string): Promise<void> {
  const client = await ground.client(name);
  const runs = async () =>
    (await client.read(Pod, HELLO))?.status?.conditions?.some(
      ({ type, status }) => type === "Ready" && status === "True",
    ) ?? false;
  try {
    await until(runs);
  } finally {
    await client.close();
  }
}

async function nameAnswers({ machines }: MachineGround, name: string): Promise<void> {
  await until(async () => {
    const { code } = await machines.exec(name, [NODE, "-e", ASK_NAME]);
    if (code !== 0) await sleep(200);
    return code === 0;
  });
}

/** The Node that gardenadm brings. */
export const NODE = "/opt/gardenadm/node_modules/.bin/node";

/** CoreDNS is at the tenth address of the network of Services. */
const ASK_NAME = `
const resolver = new (require("node:dns").promises.Resolver)({ timeout: 1000, tries: 1 });
resolver.setServers(["10.185.0.10"]);
resolver.resolve4("kubernetes.default.svc.cluster.local").then(() => process.exit(0), () => process.exit(1));
`;
