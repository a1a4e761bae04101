import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probeDuring, type ProbeResult } from "../../bench/self-hosted/probe.ts";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Node, Pod } from "../../src/kube/index.ts";
import { CONFIGURATION_FOLDER } from "../../src/local/bare/configuration.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

const servers = ["a", "b", "c"] as const;
let ground: BareGround;
let machines: Readonly<Record<(typeof servers)[number] | "w", GardenadmMachine>>;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-change", [...servers, "w"]));
  await machines.a.succeed(INIT);
  for (const name of ["b", "c"] as const) await machines[name].succeed(await machines.a.invite("control-plane"));
  await machines.w.succeed(await machines.a.invite("worker"));
});

afterAll(async () => {
  await ground.stop();
});

test("flags and kubelet settings that change are rolled out one node after another, without a gap", async () => {
  await edit(
    "shoot-root.yaml",
    "  kubernetes:\n",
    "  kubernetes:\n    kubeAPIServer: { eventTTL: 2h }\n    kubelet: { maxPods: 77 }\n",
  );
  const { seen, fewestReady } = await rollOut();
  for (const name of servers) expect(await commandLine(machines[name], "kube-apiserver")).toContain("--event-ttl=2h");
  await eventually(async () => expect(await capacities()).toEqual(Array(4).fill("77")), 120_000);
  expect(seen.name.refused, JSON.stringify(seen)).toBeLessThanOrEqual(LOST);
  expect(fewestReady, "API servers that were ready at once").toBeGreaterThanOrEqual(2);
});

test("a patch version of Kubernetes is rolled out in place, one node after another, without a gap", async () => {
  for (const { name } of Object.values(machines)) await ground.inMachine(name, "sh", "-c", TAG_PATCH);
  await edit("shoot-root.yaml", "version: 1.34.4", "version: 1.34.5");
  await edit(
    "cloudprofile-local.yaml",
    "      - version: 1.34.4\n",
    "      - version: 1.34.5\n        classification: supported\n      - version: 1.34.4\n",
  );
  const { seen, fewestReady } = await rollOut();
  const wanted = servers.flatMap((name) => PROGRAMS.map((program) => [`${program}-${name}`, "v1.34.5"]));
  await eventually(async () => expect(await versions()).toEqual(Object.fromEntries(wanted)), 60_000);
  expect(seen.name.refused, JSON.stringify(seen)).toBeLessThanOrEqual(LOST);
  expect(fewestReady, "API servers that were ready at once").toBeGreaterThanOrEqual(2);
  const nodes = await machines.a.asAdministrator(async (client) => await client.list(Node));
  expect(nodes.filter(isReady).map(({ metadata }) => metadata.name)).toEqual(["a", "b", "c", "w"]);
});

/** A server that ends loses at most the request that it is just accepting; asked again, another one answers it. */
const LOST = servers.length;

/** The programs of this patch version under the names of the next one: what a registry would bring. */
const TAG_PATCH = `
ctr --namespace k8s.io images list --quiet | grep ':v1\\.34\\.4$' | while read -r image; do
  ctr --namespace k8s.io images tag --force "$image" "\${image%4}5"
done
`;

/** Changes a file of the configuration on a. */
async function edit(file: string, before: string, after: string): Promise<void> {
  const path = join(await machines.a.root(), CONFIGURATION_FOLDER, file);
  const text = await readFile(path, "utf8");
  expect(text).toContain(before);
  await writeFile(path, text.replace(before, after));
}

/** Gives init again on a; answers with what a client on w saw meanwhile, and how many API servers were ready at the least. */
async function rollOut(): Promise<{ readonly seen: ProbeResult; readonly fewestReady: number }> {
  const probed = { machines: ground.machines, run, kubeconfig };
  const over = new AbortController();
  const counting = countReady(over.signal);
  const { seen } = await probeDuring(probed, "w", servers, async () => await machines.a.succeed(INIT)).finally(() =>
    over.abort(),
  );
  return { seen, fewestReady: await counting };
}

/** The fewest API servers that were ready at once. */
async function countReady(signal: AbortSignal): Promise<number> {
  let fewest: number = servers.length;
  while (!signal.aborted) {
    const ready = await Promise.all(
      servers.map(async (name) => {
        const command = ["sh", "-c", "curl --silent --fail --max-time 2 --insecure https://localhost/readyz || true"];
        return (await ground.machines.exec(name, command)).stdout.trim() === "ok";
      }),
    );
    fewest = Math.min(fewest, ready.filter(Boolean).length);
    await delay(300, undefined, { signal }).catch(() => {});
  }
  return fewest;
}

const run = async (name: string, command: readonly string[], stdin?: string): Promise<string> =>
  (await ground.machines.exec(name, command, stdin === undefined ? {} : { stdin })).stdout;

const kubeconfig = async (name: string): Promise<string> => await run(name, ["cat", "/etc/kubernetes/admin.conf"]);

const commandLine = async ({ name }: GardenadmMachine, program: string): Promise<string> =>
  await ground.inMachine(
    name,
    "sh",
    "-c",
    `tr '\\0' ' ' </proc/$(pgrep --oldest --exact ${program.slice(0, 15)})/cmdline`,
  );

const PROGRAMS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

/** The versions of the programs of the control plane, by the names of their pods. */
const versions = async () =>
  await machines.a.asAdministrator(async (client) => {
    const pods = (await client.list(Pod, { namespace: "kube-system" })) as readonly {
      readonly metadata: { readonly name: string };
      readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
    }[];
    const own = pods.filter(({ metadata: { name } }) => PROGRAMS.some((program) => name.startsWith(`${program}-`)));
    return Object.fromEntries(
      own.map(({ metadata, spec }) => [metadata.name, spec?.containers?.[0]?.image?.split(":").at(-1)]),
    );
  });

/** How many pods each node takes, as its kubelet says. */
const capacities = async () =>
  await machines.a.asAdministrator(async (client) => {
    const nodes = (await client.list(Node)) as {
      readonly status?: { readonly capacity?: { readonly pods?: string } };
    }[];
    return nodes.map(({ status }) => status?.capacity?.pods);
  });
