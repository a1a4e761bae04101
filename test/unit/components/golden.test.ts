import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import type { KubeObject } from "../../../src/api/index.ts";
import {
  components,
  controlPlaneObject,
  dnsRecordObject,
  infrastructureObject,
  networkObject,
  operatingSystemConfigs,
  poolsOf,
  workerObject,
} from "../../../src/components/index.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

const directory = join(import.meta.dirname, "golden");
const context = exampleContext();
const userData = { worker: { name: "osc-result-worker", key: "cloud_config" } };

const goldens: Record<string, readonly KubeObject[]> = {
  ...Object.fromEntries(Object.entries(components).map(([name, { objects }]) => [name, objects(context)])),
  "operating-system-config": poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
  "extension-objects": [
    infrastructureObject(context),
    controlPlaneObject(context, { vpc: "made" }),
    networkObject(context),
    dnsRecordObject(context, "internal", { type: "rfc2136" }),
    dnsRecordObject(context, "external", { type: "rfc2136", zone: "perennial.test" }),
    workerObject(context, { userData, infrastructureProviderStatus: { vpc: "made" } }),
  ],
};

test.for(Object.entries(goldens))("%s makes the objects of its golden file", async ([name, objects]) => {
  const file = join(directory, `${name}.yaml`);
  const text = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })).join("---\n");
  if (process.env["UPDATE_GOLDEN"] === "1") {
    await mkdir(directory, { recursive: true });
    await writeFile(file, text);
  }
  expect(text).toBe(await readFile(file, "utf8"));
});
