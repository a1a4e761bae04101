import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { registeredOf } from "../../../src/api/registration/registered.ts";
import type { ControllerDeployment, ControllerRegistration } from "../../../src/api/index.ts";
import { exampleObjects } from "../../../src/local/bare/configuration.ts";
import { readManifest } from "../../../src/manifests.ts";
import { renderProviderRegistration } from "../../../src/local/cluster/provider-registration.ts";
import { readConfiguration } from "../../../src/gardenadm/configuration/configuration.ts";
import { deriveEnvironment } from "../../../src/local/environment/environment.ts";
import { dnsServer } from "../../../src/local/process/dns.ts";

const environment = deriveEnvironment("one", "/var/lib/perennial/one");
const image = { name: "perennial.dev/provider-local:0.1.0", tar: "/tar", code: "abc" };

const render = async () => {
  const objects = await renderProviderRegistration(environment, dnsServer(environment), image);
  return objects as [ControllerDeployment, ControllerRegistration];
};

test("the installed provider is registered for what the built-in one serves, and asks for nothing beside control planes", async () => {
  const [{ metadata }, registration] = await render();
  const [builtIn] = (await readManifest("examples/controller-registration.yaml")) as ControllerRegistration[];
  expect(registration.spec.resources).toEqual(builtIn?.spec.resources);
  expect(registeredOf(registration)).toMatchObject({
    method: { by: "reference", name: metadata.name },
    writesNoResources: true,
    makesMachines: true,
  });
});

test("the chart is told where in the environment everything is, and is the same bytes each time", async () => {
  const [{ helm }] = await render();
  expect(helm?.values).toMatchObject({
    image: image.name,
    environment: { name: "one", stateDir: "/var/lib/perennial/one", gateway: environment.gateway },
    host: { machineApi: "/var/lib/perennial/one/machine-api" },
    dnsServer: environment.gateway,
  });
  expect((await render())[0].helm?.rawChart).toBe(helm?.rawChart);
});

test("the chart is a tar whose one folder bears the chart's name", async () => {
  const [{ helm }] = await render();
  const folder = await mkdtemp(join(tmpdir(), "perennial-chart-"));
  try {
    await writeFile(join(folder, "chart.tgz"), Buffer.from(helm?.rawChart ?? "", "base64"));
    await execa("tar", ["-xzf", join(folder, "chart.tgz"), "-C", folder]);
    const chart = await readFile(join(folder, "provider-local/Chart.yaml"), "utf8");
    const { version } = JSON.parse(await readFile(new URL("../../../package.json", import.meta.url), "utf8")) as {
      readonly version: string;
    };
    expect(chart).toContain(`version: ${version}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the example of a self-hosted cluster, with the provider out of this image, is a configuration without a fault", async () => {
  const folder = await mkdtemp(join(tmpdir(), "perennial-example-"));
  try {
    for (const [index, object] of (await exampleObjects(image)).entries())
      await writeFile(join(folder, `${index}.yaml`), stringify(object));
    const { objects } = await readConfiguration(folder);
    expect(objects.find(({ kind }) => kind === "ControllerRegistration")).toMatchObject({
      spec: { deployment: { deploymentRefs: [{ name: "provider-local" }] } },
    });
    expect(objects.find(({ kind }) => kind === "ControllerDeployment")).toMatchObject({
      metadata: { name: "provider-local" },
      helm: { values: { image: image.name, imageContent: image.code } },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
