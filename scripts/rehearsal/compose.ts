import { chmod, chown, copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { applyObjects } from "../../src/local/cluster/objects.ts";
import { withContainers, type Containers } from "../image/containers.ts";
import { ensureImage } from "../image/perennial.ts";
import { podmanArguments, readComposeFile, startOrder, type ComposeFile, type Condition } from "./compose-file.ts";
import { buildStandIns } from "./compose-images.ts";
import { onGrounds, seedName, startProvider, type Grounds } from "./grounds.ts";
import { makeSecrets } from "./secrets.ts";
import { tell, tryShoot } from "./shoot.ts";

const root = join(import.meta.dirname, "../..");
const file = join(root, "docker-compose.yml");

/** The services that are left out: no package has Temporal's UI of that version. */
const leftOut = new Set(["temporal-ui"]);

/** docs/deploying.md, "With Compose", step by step: docker-compose.yml brought up by podman, on clusters that are there. */
export async function rehearseCompose(): Promise<void> {
  const text = await readFile(file, "utf8");
  const standIns = await buildStandIns(readComposeFile(text, {}));
  const tars = [await ensureImage(), ...standIns.map(({ tar }) => tar)];
  const images = Object.fromEntries(
    standIns.flatMap(({ image, variables }) => variables.map((variable) => [variable, image])),
  );
  await withContainers(async (containers) => {
    for (const tar of tars) await containers.run("podman", ["load", "--quiet", "--input", tar]);
    await onGrounds(async (grounds) => {
      await prepareClusters(grounds);
      const compose = readComposeFile(text, { ...images, ...(await makeFolders(grounds)) });
      await bringUp(containers, compose);
      await applyObjects(grounds.garden.client, grounds.environment, [seedName], grounds);
      await startProvider(grounds);
      await tryShoot(grounds).catch(async (error: unknown) => {
        for (const name of Object.keys(compose.services)) await showLog(containers, compose, name);
        throw error;
      });
    });
  });
}

/** What the head of the compose file asks for. */
async function prepareClusters({ garden, seed }: Grounds): Promise<void> {
  const manifests = (...names: string[]) => names.flatMap((name) => ["--filename", join(root, "deploy", name)]);
  for (const { kubectl } of [garden, seed]) await kubectl(["apply", "--server-side", ...manifests("crds")]);
  await garden.kubectl([
    "apply",
    ...manifests("process/namespace.yaml", "garden/namespace.yaml", "garden/fencing.yaml", "garden/reserved-keys.yaml"),
    ...manifests("garden/dns-records.yaml", "garden/project-labels.yaml"),
  ]);
  await seed.kubectl(["apply", "--server-side", ...manifests("seed/crds")]);
  await seed.kubectl(["apply", ...manifests("seed/fencing.yaml", "seed/priority-classes.yaml")]);
}

/** The folders that the file mounts, for uid 1000, and the variables that name them and the garden's way to the webhooks. */
async function makeFolders(grounds: Grounds): Promise<Readonly<Record<string, string>>> {
  const { environment, garden, seed } = grounds;
  const secrets = await makeSecrets(grounds, "127.0.0.1");
  const [kubeconfigs, certificates] = ["kubeconfigs", "certificates"].map((name) =>
    join(environment.stateDir, "compose", name),
  ) as [string, string];
  const files = {
    [kubeconfigs]: {
      "garden.yaml": garden.kubeconfig,
      "seed.yaml": seed.kubeconfig,
      "state-keys-garden.json": secrets("state-keys-garden.json"),
      "state-keys-seed.json": secrets(`state-keys-${seedName}.json`),
    },
    [certificates]: Object.fromEntries(
      [
        ...["ca.crt", "garden.crt", "garden.key", "gateway.crt", "gateway.key"],
        ...[`${seedName}.crt`, `${seedName}.key`, "gateway-keys.json", "payload-keys.json"],
      ].map((name) => [name, secrets(name)]),
    ),
  };
  for (const [folder, contents] of Object.entries(files)) {
    await mkdir(folder, { recursive: true });
    for (const [name, source] of Object.entries(contents)) {
      await copyFile(source, join(folder, name));
      await chmod(join(folder, name), 0o600);
      await chown(join(folder, name), 1000, 1000);
    }
  }
  return {
    PERENNIAL_KUBECONFIGS: kubeconfigs,
    PERENNIAL_CERTIFICATES: certificates,
    PERENNIAL_WEBHOOK_HOST: environment.gateway,
    PERENNIAL_DNS_RESOLVERS: environment.gateway,
  };
}

/** Starts each service once those that it depends on are where it wants them, and returns when all are healthy. */
async function bringUp(containers: Containers, compose: ComposeFile): Promise<void> {
  await containers.run("podman", ["network", "create", compose.project]);
  for (const name of startOrder(compose.services).filter((name) => !leftOut.has(name))) {
    for (const [other, { condition }] of Object.entries(compose.services[name]?.depends_on ?? {}))
      await until(containers, compose, other, condition);
    await containers.run("podman", ["run", ...podmanArguments(name, compose, file)]);
    tell(`${name} started`);
  }
  for (const [name, { environment }] of Object.entries(compose.services)) {
    const port = environment?.["PERENNIAL_HEALTH_PORT"];
    if (port !== undefined) await poll(containers, compose, name, () => saysReady(port));
  }
}

async function until(containers: Containers, compose: ComposeFile, name: string, condition: Condition): Promise<void> {
  const container = `${compose.project}-${name}`;
  const inspect = async (path: string) =>
    await containers.run("podman", ["inspect", "--format", `{{${path}}}`, container]);
  const conditions: Readonly<Record<Condition, () => Promise<boolean>>> = {
    service_started: async () => (await inspect(".State.Running")) === "true",
    service_healthy: async () => {
      const [kind = "", ...words] = compose.services[name]?.healthcheck?.test ?? [];
      const command = kind === "CMD-SHELL" ? ["/bin/sh", "-c", ...words] : words;
      return await containers.run("podman", ["exec", container, ...command]).then(() => true, () => false); // prettier-ignore
    },
    service_completed_successfully: async () =>
      (await inspect(".State.Status")) === "exited" && (await inspect(".State.ExitCode")) === "0",
  };
  await poll(containers, compose, name, conditions[condition]);
  tell(`${name}: ${condition}`);
}

async function poll(containers: Containers, compose: ComposeFile, name: string, holds: () => Promise<boolean>) {
  for (const deadline = Date.now() + 180_000; !(await holds()); await sleep(1_000)) {
    if (Date.now() < deadline) continue;
    await showLog(containers, compose, name);
    throw new Error(`service ${name} does not come up`);
  }
}

async function showLog(containers: Containers, { project }: ComposeFile, name: string): Promise<void> {
  if (leftOut.has(name)) return;
  tell(`-- ${name}\n${await containers.run("podman", ["logs", "--tail", "30", `${project}-${name}`])}`);
}

async function saysReady(port: string): Promise<boolean> {
  const answer = fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) });
  return await answer.then(({ ok }) => ok, () => false); // prettier-ignore
}
