import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { imagesFor, type ImageVector } from "../../../src/components/index.ts";
import { backupAccessOf } from "../../../src/gardenadm/configuration/backup.ts";
import { readConfiguration } from "../../../src/gardenadm/configuration/configuration.ts";
import { exampleConfiguration } from "../../support/configuration.ts";
import { readPage } from "../../support/pages.ts";

const page = readPage("docs/self-hosted.md");

/** What has no part in a self-hosted cluster. */
const ofOthers: readonly (keyof ImageVector)[] = [
  ...(["nodeAgent", "machineControllerManager", "clusterAutoscaler", "tunnelServer", "tunnelAgent"] as const),
];

test("the page of self-hosted Shoots names every image that a machine without a way out has to have", () => {
  const images = Object.entries<string>({ ...imagesFor("1.34.4") }).filter(
    ([name]) => !ofOthers.some((other) => other === name),
  );
  expect(images.map(([, image]) => image).filter((image) => !page.includes(`\`${image}\``))).toEqual([]);
});

/** A part of a Shoot as the page writes it, of which only its first pool is meant. */
interface ShootPart {
  readonly spec: {
    readonly dns?: object;
    readonly provider: { readonly workers: readonly { readonly controlPlane: object }[] };
  };
}

/** The example's configuration with a block of the page in it: a part of the Shoot, and a Secret. */
async function configurationWith(block: string) {
  const [part, secret] = parseAllDocuments(block).map((document) => document.toJS() as unknown);
  const [shoot, ...others] = exampleConfiguration() as unknown as [ShootPart, ...object[]];
  const { spec } = part as ShootPart;
  const [pool = expect.fail("no pool"), ...pools] = shoot.spec.provider.workers;
  const workers = [{ ...pool, ...spec.provider.workers[0] }, ...pools];
  const changed = { ...shoot, spec: { ...shoot.spec, ...spec, provider: { ...shoot.spec.provider, workers } } };
  const dns = {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name: "dns" },
    spec: {
      deployment: { deploymentRefs: [{ name: "provider-local" }] },
      resources: [{ kind: "DNSRecord", type: "rfc2136" }],
    },
  };
  const folder = await mkdtemp(join(tmpdir(), "perennial-page-"));
  onTestFinished(async () => await rm(folder, { recursive: true }));
  const text = [changed, secret, dns, ...others].map((object) => stringify(object)).join("---\n");
  await writeFile(join(folder, "all.yaml"), text);
  return await readConfiguration(folder);
}

const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = ""]) => block);

test("what the page writes of names and of backups is a configuration that init takes", async () => {
  expect(blocks).toHaveLength(2);
  for (const block of blocks) expect(await configurationWith(block)).toMatchObject({ shoot: { kind: "Shoot" } });
});

test("the page's Secret of backups says all that leads to the bucket", async () => {
  const block = blocks.find((text) => text.includes("backup:")) ?? expect.fail("no block of backups");
  const access = backupAccessOf(await configurationWith(block));
  expect(access).toMatchObject({ provider: "s3", secret: { bucketName: "root-backups", region: "eu" } });
});
