import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { Node } from "../../src/kube/index.ts";
import { ensureImages } from "../../src/local/bare/gardenadm.ts";
import { createLogger } from "../../src/log.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { conditionsOf, WELL } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { startPrivateRegistry, type PrivateRegistry } from "../support/private-registry.ts";

let ground: BareGround;
let machines: Readonly<Record<"a" | "w", GardenadmMachine>>;
let registry: PrivateRegistry;

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-own-registry", ["a", "w"]));
  const gateway = (await ground.inMachine("a", "sh", "-c", "ip route show default | cut -d' ' -f3")).trim();
  const images = await ensureImages({ log: createLogger({ name: "test", level: "warn" }) });
  registry = await startPrivateRegistry(
    images.map(({ tar }) => tar),
    gateway,
  );
  const hosts = new Set(images.map(({ name }) => name.slice(0, name.indexOf("/"))));
  for (const name of ["a", "w"] as const) {
    await ground.inMachine(name, "sh", "-c", WITHOUT_IMAGES);
    expect(await imagesOn(name)).toEqual([]);
    await write(name, "own-registry.crt", registry.authority);
    for (const host of hosts) await write(name, `${host}/hosts.toml`, mirrorOf(host, `${gateway}:${registry.port}`));
  }
});

afterAll(async () => {
  await ground.stop();
  await registry.stop();
});

const WITHOUT_IMAGES = "ctr --namespace k8s.io images list --quiet | xargs ctr --namespace k8s.io images remove --sync";

async function imagesOn(name: string): Promise<readonly string[]> {
  const names = await ground.inMachine(name, "ctr", "--namespace", "k8s.io", "images", "list", "--quiet");
  return names.split("\n").filter((image) => image !== "" && !image.startsWith("sha256:"));
}

/** As docs/self-hosted.md has it. */
const mirrorOf = (host: string, own: string): string => `server = "https://${host}"
[host."https://${own}"]
  capabilities = ["pull", "resolve"]
  ca = "/etc/containerd/certs.d/own-registry.crt"
`;

async function write(name: string, file: string, text: string): Promise<void> {
  const path = `/etc/containerd/certs.d/${file}`;
  const { code, stderr } = await ground.machines.exec(name, ["sh", "-c", WRITE, "write", path], { stdin: text });
  expect(code, stderr).toBe(0);
}

const WRITE = 'mkdir -p "$(dirname "$1")" && cat > "$1"';

test("machines that have no image become a cluster out of a registry of their own", async () => {
  await machines.a.succeed(INIT);
  await machines.w.succeed(await machines.a.invite("worker"));
  const nodes = await machines.a.asAdministrator(async (client) => await client.list(Node));
  expect(nodes.filter(isReady).map(({ metadata }) => metadata.name)).toEqual(["a", "w"]);
  await eventually(async () => expect(await conditionsOf(machines.a)).toEqual(WELL), 240_000);
  expect(await imagesOn("w")).toEqual(expect.arrayContaining([expect.stringContaining("/hyperkube:")]));
});
