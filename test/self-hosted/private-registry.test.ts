import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeImageTar } from "../../src/local/image/tar.ts";
import { startBareGround, type BareGround } from "../support/bare-machines.ts";
import { startPrivateRegistry, type PrivateRegistry } from "../support/private-registry.ts";

const IMAGE = "registry.k8s.io/tests/greeting:v1";

let folder: string;
let ground: BareGround;
let registry: PrivateRegistry;
/** By which the machine reaches this host. */
let gateway: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "private-registry-test-"));
  const tar = join(folder, "image.tar");
  await writeImageTar({ name: IMAGE, files: [{ path: "/greeting", text: "hello", mode: 0o644 }] }, tar);
  ground = await startBareGround("test-registry", ["a"]);
  gateway = (await ground.inMachine("a", "sh", "-c", "ip route show default | cut -d' ' -f3")).trim();
  registry = await startPrivateRegistry([tar], gateway);
});

afterAll(async () => {
  await ground.stop();
  await rm(folder, { recursive: true });
  await registry.stop();
});

/** As gardenadm, and the unit that takes it out of its image, pull. */
const pull = async () =>
  await ground.machines.exec("a", [
    ...["ctr", "--namespace", "k8s.io", "images", "pull", "--hosts-dir", "/etc/containerd/certs.d", IMAGE],
  ]);

const hosts = (...more: readonly string[]) =>
  [
    'server = "https://registry.k8s.io"',
    `[host."https://${gateway}:${registry.port}"]`,
    '  capabilities = ["pull", "resolve"]',
    ...more,
    "",
  ].join("\n");

async function write(file: string, text: string): Promise<void> {
  await ground.inMachine("a", "mkdir", "-p", "/etc/containerd/certs.d/registry.k8s.io");
  const { code, stderr } = await ground.machines.exec("a", ["tee", `/etc/containerd/certs.d/${file}`], { stdin: text });
  expect(code, stderr).toBe(0);
}

test("an image comes out of a registry whose authority hosts.toml names, and not before", async () => {
  await write("registry.k8s.io/hosts.toml", hosts());
  expect((await pull()).stderr).toContain("certificate signed by unknown authority");
  await write("own-registry.crt", registry.authority);
  await write("registry.k8s.io/hosts.toml", hosts('  ca = "/etc/containerd/certs.d/own-registry.crt"'));
  const { code, stderr } = await pull();
  expect(code, stderr).toBe(0);
  expect(await ground.inMachine("a", "sh", "-c", SHOW)).toBe("hello");
});

const SHOW = `mkdir -p /mnt && ctr --namespace k8s.io images mount ${IMAGE} /mnt >/dev/null && cat /mnt/greeting; ctr --namespace k8s.io images unmount --rm /mnt >/dev/null`;
