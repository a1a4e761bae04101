import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Node } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { fileOf } from "../support/cluster-world.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "b" | "w", GardenadmMachine>>;
/** By which the machines of the set reach each other. */
let addresses: Readonly<Record<string, string>>;

/** An interface that leads nowhere, with the machine's only default route. */
const LURE = `
ip link add lure type veth peer name nowhere
ip link set lure up && ip link set nowhere up
ip address add "$1/24" dev lure
ip route del default
ip route add default via 192.168.77.254 dev lure
`;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-addresses", ["a", "b", "w"]));
  addresses = Object.fromEntries((await ground.machines.list()).map(({ name, address = "" }) => [name, address]));
  for (const [index, name] of Object.keys(machines).entries())
    await ground.inMachine(name, "sh", "-c", LURE, "lure", `192.168.77.${index + 1}`);
});

afterAll(async () => {
  await ground.stop();
});

test("an address that is none of the machine's is refused, and nothing is changed", async () => {
  const { a } = machines;
  const { code, stderr } = await a.gardenadm(...INIT.words, "--node-ip", "192.168.77.2");
  expect(code).toBe(1);
  expect(stderr).toContain(
    `--node-ip is 192.168.77.2, which no interface of this machine has: name one of ${addresses["a"]} on eth0, 192.168.77.1 on lure`,
  );
  expect(await fileOf(a, "/var/lib/gardenadm/journal")).toBeUndefined();
});

test("kubelets, etcd, API servers and the join line have the wanted address, wherever default routes lead", async () => {
  const { a, b, w } = machines;
  await a.succeed({ words: [...INIT.words, "--node-ip", addresses["a"] ?? ""] });
  for (const [machine, role] of [
    [b, "control-plane"],
    [w, "worker"],
  ] as const) {
    const invitation = await a.invite(role);
    expect(invitation.words).toContain(`https://${addresses["a"]}`);
    await machine.succeed(invitation);
  }
  await a.asAdministrator(async (client) => {
    const nodes = await client.list(Node);
    expect(nodes.filter(isReady).map(({ metadata }) => metadata.name)).toEqual(["a", "b", "w"]);
    expect(nodes.map(internalAddresses)).toEqual(["a", "b", "w"].map((name) => [addresses[name]]));
    const slice = (await client.get(SLICE)) as { endpoints: readonly { addresses: readonly string[] }[] };
    expect(slice.endpoints.flatMap((endpoint) => endpoint.addresses).toSorted()).toEqual(
      [addresses["a"], addresses["b"]].toSorted(),
    );
  });
  for (const name of ["a", "b"]) {
    const own = await fileOf(machines[name as "a" | "b"], "/var/lib/static-pods/etcd-main/etcd-main-config/etcd.yaml");
    expect(own).toContain(`initial-advertise-peer-urls: https://${addresses[name]}:2380`);
  }
});

const SLICE = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

const internalAddresses = ({ status }: Node) =>
  (status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address);

test("init again and a boot keep the address, and another one is refused", async () => {
  const { a } = machines;
  await a.succeed(INIT);
  const { code, stderr } = await a.gardenadm(...INIT.words, "--node-ip", "192.168.77.1");
  expect(code).toBe(1);
  expect(stderr).toContain(`the cluster reaches this machine at ${addresses["a"]}, and --node-ip is 192.168.77.1`);
});
