import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHelm } from "../../src/activities/installation/helm.ts";
import { writeImageTar } from "../../src/local/image/tar.ts";
import { createProcesses, type Processes } from "../../src/local/process/processes.ts";
import { pushChart } from "../../src/local/registry/charts.ts";
import { parseImageName, pushImage } from "../../src/local/registry/images.ts";
import { findRegistry, startRegistry, type Registry } from "../../src/local/registry/registry.ts";
import { pushing } from "../../src/local/registry/writer.ts";
import { createLogger } from "../../src/log.ts";
import { findBinary } from "../support/binary.ts";
import { packageChart } from "../support/charts.ts";

/** Upstream's registry as it is published: what machines, node agents and Helm pull from. */
const name = "registry.k8s.io/tests/greeting:v1";
const gateway = "127.0.0.1";
let directory: string;
let environment: { readonly stateDir: string; readonly gateway: string };
let processes: Processes;
let binary: string;
let registry: Registry;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-registry-"));
  environment = { stateDir: join(directory, "state"), gateway };
  processes = createProcesses(environment, createLogger({ name: "test", level: "silent" }));
  binary = await findBinary("registry");
  registry = await startRegistry(environment, processes, { binary });
});

afterAll(async () => {
  for (const { name } of await processes.list()) await processes.stop(name);
  await rm(directory, { recursive: true });
});

test("an image is pulled, by tag and by digest, as it was pushed", async () => {
  const tar = await image("hello");
  const digest = await pushing(
    environment,
    processes,
    binary,
    async (client) => await pushImage(client, { name, tar }),
  );
  const byTag = await pull("registry.k8s.io/tests/greeting/manifests/v1");
  expect(byTag).toMatchObject({ status: 200, digest });
  expect(await pull(`registry.k8s.io/tests/greeting/manifests/${digest}`)).toEqual(byTag);
  const { layers } = JSON.parse(byTag.text) as { layers: [{ digest: string; size: number }] };
  const layer = await pull(`registry.k8s.io/tests/greeting/blobs/${layers[0].digest}`);
  expect(layer.text).toContain("hello");
  expect(layer.text).toHaveLength(layers[0].size);
});

test("an image that is pushed again sends no blob, and a new one takes over its tag", async () => {
  const tar = await image("hello");
  await pushing(environment, processes, binary, async (client) => {
    const sent: boolean[] = [];
    const watched = {
      ...client,
      putBlob: async (...blob: Parameters<typeof client.putBlob>) => {
        const isSent = await client.putBlob(...blob);
        sent.push(isSent);
        return isSent;
      },
    };
    const first = await pushImage(watched, { name, tar });
    expect(await pushImage(watched, { name, tar })).toBe(first);
    expect(sent.slice(-3)).toEqual([false, false, false]);
    const second = await pushImage(watched, { name, tar: await image("goodbye") });
    expect(second).not.toBe(first);
    expect(await pull("registry.k8s.io/tests/greeting/manifests/v1")).toMatchObject({ digest: second });
    expect(await pull(`registry.k8s.io/tests/greeting/manifests/${first}`)).toMatchObject({ status: 200 });
  });
});

test("the address that pods reach takes no push, and the writer is gone after the work", async () => {
  const { status } = await call("POST", `https://${registry.host}/v2/registry.k8s.io/evil/blobs/uploads/`, registry.ca);
  expect(status).toBe(405);
  expect((await processes.list()).map((process) => process.name)).toEqual(["registry"]);
});

test("the writer serves no client without a certificate of the registry's authority", async () => {
  await pushing(environment, processes, binary, async () => {
    const ports = JSON.parse(await readFile(join(environment.stateDir, "ports.json"), "utf8")) as Record<
      string,
      number
    >;
    const address = `https://${gateway}:${ports["registry-writer"]}/v2/`;
    await expect(call("GET", address, registry.ca)).rejects.toThrow(/certificate required|ECONNRESET|socket/i);
  });
});

test("a work that fails takes its writer along, and its error comes out", async () => {
  const failing = pushing(environment, processes, binary, () => Promise.reject(new Error("no such image")));
  await expect(failing).rejects.toThrow("no such image");
  expect((await processes.list()).map((process) => process.name)).toEqual(["registry"]);
});

test("a registry that runs is found and left alone, and what it holds outlives it", async () => {
  const pid = async () => (await processes.list()).find((process) => process.name === "registry")?.pid;
  const before = await pid();
  expect(await startRegistry(environment, processes, { binary })).toEqual(registry);
  expect(await findRegistry(environment)).toEqual(registry);
  expect(await pid()).toBe(before);
  await processes.stop("registry");
  expect(await startRegistry(environment, processes, { binary })).toEqual(registry);
  expect(await pull("registry.k8s.io/tests/greeting/manifests/v1")).toMatchObject({ status: 200 });
});

test("an image's name says where it is kept, and a name without a tag is refused", () => {
  expect(parseImageName("registry.local.gardener.cloud:5001/a/b:v1.0")).toEqual({
    repository: "registry.local.gardener.cloud_5001/a/b",
    tag: "v1.0",
  });
  expect(() => parseImageName("pause:3.10")).toThrow("cannot push pause:3.10");
  expect(() => parseImageName("quay.io/a/b")).toThrow("named by registry, repository and tag");
});

test("Helm pulls a chart by its digest and by its version, as installations do", async () => {
  const helm = createHelm({ binary: await findBinary("helm") });
  const [chart, built] = await Promise.all(
    ["1.2.3", "1.2.3+build"].map(async (version) => Buffer.from(await packageChart({}, version), "base64")),
  );
  if (chart === undefined || built === undefined) throw new Error("Helm packaged no chart");
  const pushed = await pushing(environment, processes, binary, async (client) => ({
    chart: await pushChart(client, "charts", chart),
    built: await pushChart(client, "charts", built),
  }));
  const pull = async (version: string) => {
    const ref = `${registry.host}/charts/trivial${version}`;
    return Buffer.from(await helm.pull({ ref, ca: registry.ca }));
  };
  expect(pushed.chart.repository).toBe("charts/trivial");
  expect(pushed.built.tag).toBe("1.2.3_build");
  expect((await pull(`@${pushed.chart.digest}`)).equals(chart)).toBe(true);
  expect((await pull(`@${pushed.built.digest}`)).equals(built)).toBe(true);
  expect((await pull(":1.2.3")).equals(chart)).toBe(true);
  await expect(pull(`@sha256:${"0".repeat(64)}`)).rejects.toThrow(/not found/);
});

test("where users are asked for, Helm pulls with a pull secret, and not without", async () => {
  const closed = { stateDir: join(directory, "closed"), gateway };
  const own = createProcesses(closed, createLogger({ name: "test", level: "silent" }));
  try {
    const { host, ca } = await startRegistry(closed, own, { binary, users: `puller:${hashOfPullSecret}` });
    const chart = Buffer.from(await packageChart({}), "base64");
    const { repository, digest } = await pushing(closed, own, binary, (client) => pushChart(client, "charts", chart));
    const helm = createHelm({ binary: await findBinary("helm") });
    const ref = `${host}/${repository}@${digest}`;
    const dockerConfig = (password: string) =>
      JSON.stringify({ auths: { [host]: { auth: Buffer.from(`puller:${password}`).toString("base64") } } });
    const pulled = await helm.pull({ ref, ca, dockerConfig: dockerConfig("pull-secret") });
    expect(Buffer.from(pulled).equals(chart)).toBe(true);
    await expect(helm.pull({ ref, ca, dockerConfig: dockerConfig("guess") })).rejects.toThrow(/401|unauthorized/i);
    await expect(helm.pull({ ref, ca })).rejects.toThrow(/401|unauthorized|basic credential not found/i);
  } finally {
    for (const process of await own.list()) await own.stop(process.name);
  }
});

/** By bcrypt, as the registry asks for. */
const hashOfPullSecret = "$2b$10$abcdefghijklmnopqrstuuTp83yFaBFon64LT5UT4RXJBpWA4BG0i";

async function image(greeting: string): Promise<string> {
  const tar = join(directory, `${greeting}.tar`);
  await writeImageTar({ name, files: [{ path: "/greeting", text: greeting, mode: 0o644 }] }, tar);
  return tar;
}

async function pull(path: string) {
  return await call("GET", `https://${registry.host}/v2/${path}`, registry.ca);
}

async function call(method: "GET" | "POST", url: string, ca: string) {
  const dispatcher = new Agent({ connect: { ca } });
  try {
    const accept = "application/vnd.oci.image.manifest.v1+json";
    const { statusCode: status, headers, body } = await request(url, { method, dispatcher, headers: { accept } });
    return { status, digest: headers["docker-content-digest"], text: await body.text() };
  } finally {
    await dispatcher.close();
  }
}
