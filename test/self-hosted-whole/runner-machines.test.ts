import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Node } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { bareWorld } from "../support/bare-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "w", GardenadmMachine>>;
/** What the worker was before it was a node. */
let bare: readonly string[];

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-runner-machines", ["a", "w"], { init: "runner" }));
  bare = await ownWorld();
});

afterAll(async () => {
  await ground.stop();
});

/** The worker without what `update-ca-certificates` makes anew out of the host's authorities: links, and notes of its hooks. */
async function ownWorld(): Promise<readonly string[]> {
  return (await bareWorld(machines.w)).filter((line) => !MADE_ANEW.test(line));
}

const MADE_ANEW = / \/(etc\/ssl\/certs|var\/lib\/(dpkg|ca-certificates-java))(\/| |$)/;

async function readyNodes(): Promise<readonly string[]> {
  const nodes = await machines.a.asAdministrator(async (client) => await client.list(Node));
  return nodes.filter(isReady).map(({ metadata }) => metadata.name);
}

test("machines without a systemd become a cluster as others do", async () => {
  await machines.a.succeed(INIT);
  await machines.w.succeed(await machines.a.invite("worker"));
  expect(await readyNodes()).toEqual(["a", "w"]);
});

test("a worker that leaves such a machine leaves it as bare as before", async () => {
  const kubeconfig = await ground.inMachine("a", "cat", "/etc/kubernetes/admin.conf");
  await ground.machines.exec("w", ["sh", "-c", "umask 077; cat > /root/admin.conf"], {
    stdin: kubeconfig.replace("https://localhost", "https://a"),
  });
  await machines.w.succeed({ words: ["reset", "-k", "/root/admin.conf"] });
  expect(await ownWorld()).toEqual(bare);
  expect(await readyNodes()).toEqual(["a"]);
});

test("a node of such a machine comes back with its control plane after a power cut, by its boot alone", async () => {
  await ground.machines.cutPower("a");
  await ground.machines.on("a");
  await eventually(async () => expect(await readyNodes()).toEqual(["a"]), 120_000);
  expect((await machines.a.gardenadm("status")).stdout).toMatch(/^Kubelet: +ready$/m);
});
