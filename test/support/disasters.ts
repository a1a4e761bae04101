import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { ConfigMap, createKubeClient, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { eventually } from "./eventually.ts";
import type { GardenadmMachine } from "./gardenadm-machine.ts";

/** Writes something that a later look finds, or finds lost. */
export async function leaveSign(client: KubeClient, name: string): Promise<void> {
  await client.create<ConfigMap>({
    ...typeMeta(ConfigMap),
    metadata: { namespace: "default", name },
    data: { is: name },
  });
}

/** Whether the sign is there. */
export const hasSign = async (client: KubeClient, name: string): Promise<boolean> =>
  (await client.read(ConfigMap, { namespace: "default", name })) !== undefined;

/** An administrator's kubeconfig, with `localhost` in it. */
export async function kubeconfigTo(machine: GardenadmMachine): Promise<string> {
  return await readFile(join(await machine.root(), "/etc/kubernetes/admin.conf"), "utf8");
}

/** The address of a machine, also of one that is off. */
export async function addressOf({ ground, name }: GardenadmMachine): Promise<string> {
  const found = (await ground.machines.list()).find((each) => each.name === name);
  return found?.address ?? expect.fail(`${name} has no address`);
}

/** Seconds until an API server of these machines serves a read; `kubeconfig` is an administrator's with `localhost` in it. */
export async function untilServed(kubeconfig: string, addresses: readonly string[], atMost = 300_000): Promise<number> {
  const began = performance.now();
  await eventually(async () => {
    for (const address of addresses) if (await serves(kubeconfig, address)) return true;
    return false;
  }, atMost);
  return secondsSince(began);
}

/** Whether the API server at this address answers to a read that takes etcd, within two seconds. */
export async function serves(kubeconfig: string, address: string): Promise<boolean> {
  const client = createKubeClient(
    { kubeconfig: kubeconfig.replace("https://localhost", `https://${address}`) },
    { userAgent: "test" },
  );
  const answer = client.get("/api/v1/namespaces/default").then(
    () => true,
    () => false,
  );
  const late = new Promise<false>((resolve) => setTimeout(resolve, 2_000, false).unref());
  return await Promise.race([answer, late]).finally(() => void client.close());
}

/** In s, with one decimal. */
export const secondsSince = (began: number): number => Math.round((performance.now() - began) / 100) / 10;

/** Overwrites pages of an etcd's database, whose process is killed, and lets the kubelet start it again. */
export async function damage({ ground, name }: GardenadmMachine, role: "main" | "events"): Promise<void> {
  await ground.inMachine(name, "bash", "-c", DAMAGE, "damage", `/var/lib/etcd-${role}/data/new.etcd/member/snap/db`);
}

/** Of the etcds, the one that has this database open. */
const KILL = `
set -eu
systemctl stop kubelet
for pid in $(pgrep --exact etcd); do
  if [ "/proc/$pid/root/var/etcd/data/new.etcd/member/snap/db" -ef "$1" ]; then
    kill -KILL "$pid"
    while [ -e "/proc/$pid" ]; do sleep 0.1; done
  fi
done
`;

const DAMAGE = `${KILL}
pages=$(( $(stat --format=%s "$1") / 4096 - 2 ))
dd if=/dev/urandom of="$1" bs=4096 seek=2 count="$pages" conv=notrunc status=none
sync
systemctl start kubelet
`;
