import { expect } from "vitest";
import { ManagedResource, type ControllerInstallation } from "../../src/api/index.ts";
import { refOf, refTo, Secret, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { deploymentTemplate, packageChart } from "../support/charts.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { createShoot } from "../support/garden-objects.ts";
import { inline, soon, useInstallations } from "../support/installations.ts";
import { seconds } from "../support/patience.ts";

/** What charts render to, on its way into a seed: all of it, and nothing that is another's. */
const garden = "garden";
const { register, installationOf, conditionsOf, carryOut, failureOf, managedResource, manifestsOf } =
  useInstallations(test);
let client: KubeClient;

test.beforeAll(({ cluster }) => void (client = cluster.client));

/** The Secrets with manifests of an installation, whether anything refers to them or not. */
const secretsOf = (name: string) =>
  client.list(Secret, {
    namespace: garden,
    labelSelector: `controllerinstallation.core.gardener.cloud/name=${name}`,
  });

test(
  "a chart that renders to 5 MB is handed over whole",
  async () => {
    const noise = '{{ range $j := until 1000 }}{{ sha256sum (printf "%d %d" $i $j) }}{{ end }}';
    const objects = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: noise-{{ $i }}\ndata:\n  noise: ${noise}\n`;
    await register(
      "large",
      inline(await packageChart({ "templates/noise.yaml": `{{ range $i := until 80 }}\n---\n${objects}{{ end }}` })),
    );
    await createShoot(client, "asks", { seedName: "seed-1" });
    const { metadata } = await installationOf("large");
    await carryOut("large", 30_000);
    expect((await managedResource(metadata.name))?.spec.secretRefs.length).toBeGreaterThan(2);
    const manifests = await manifestsOf(metadata.name);
    expect(manifests.map((object) => object.metadata.name)).toEqual(
      Array.from({ length: 80 }, (_, index) => `noise-${index}`),
    );
    expect(JSON.stringify(manifests).length).toBeGreaterThan(5_000_000);
  },
  seconds(120),
);

const crdOf = (name: string) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${name}.example.org
`;

/** Two registrations whose charts bring the same CustomResourceDefinition; their names begin with its own. */
async function registerTwoOf(name: string): Promise<readonly [ControllerInstallation, ControllerInstallation]> {
  for (const one of [`${name}-a`, `${name}-b`]) {
    const files = { "crds/crd.yaml": crdOf(name), "templates/deployment.yaml": deploymentTemplate };
    await registerAlways(one, await packageChart(files));
  }
  return [await installationOf(`${name}-a`), await installationOf(`${name}-b`)];
}

const registerAlways = (name: string, packaged?: string) =>
  register(name, { ...inline(packaged), policy: "Always" }, [{ kind: "ContainerRuntime", type: name }]);

test("of two charts with one CustomResourceDefinition, the second overwrites nothing, and says whose it is", async () => {
  const [first, second] = await registerTwoOf("widgets");
  await carryOut("widgets-a", 10_000);
  const why = `CustomResourceDefinition widgets.example.org (apiextensions.k8s.io) of registration widgets-a (ControllerInstallation ${first.metadata.name})`;
  expect(await failureOf("widgets-b")).toContain(why);
  expect((await conditionsOf("widgets-b"))["Valid"]).toMatchObject({
    ...{ status: "False", reason: "ObjectsInUse" },
    message: expect.stringContaining(why) as string,
  });
  expect(await managedResource(second.metadata.name)).toBeUndefined();
  expect(await secretsOf(second.metadata.name)).toEqual([]);

  await registerAlways("widgets-a"); // without it
  await soon(async () => expect((await carryOut("widgets-a", 10_000))?.operation).toBe("Reconcile"));
  await carryOut("widgets-b", 10_000);
  expect((await conditionsOf("widgets-b"))["Valid"]).toMatchObject({ status: "True" });
});

test("of two charts with one object that are installed at the same moment, one is applied", async () => {
  const installations = await registerTwoOf("gadgets");
  await Promise.allSettled([carryOut("gadgets-a"), carryOut("gadgets-b")]);
  const applied = await Promise.all(installations.map(({ metadata }) => managedResource(metadata.name)));
  expect(applied.filter((resource) => resource !== undefined)).toHaveLength(1);
});

test("what a ManagedResource of others has applied is not a chart's to apply", async () => {
  const metadata = { namespace: garden, name: "of-others" };
  const made = await client.apply<ManagedResource>({
    ...{ ...typeMeta(ManagedResource), metadata },
    spec: { class: "seed", secretRefs: [] },
  });
  const object = { apiVersion: "apiextensions.k8s.io/v1beta1", kind: "CustomResourceDefinition" };
  const status = {
    observedGeneration: made.metadata.generation,
    resources: [{ ...object, name: "tools.example.org" }],
  };
  await client.patch(refOf(made), { status }, { subresource: "status" });
  await registerTwoOf("tools");
  expect(await failureOf("tools-a")).toContain(
    "CustomResourceDefinition tools.example.org (apiextensions.k8s.io) of ManagedResource garden/of-others",
  );
  await client.remove(refTo(ManagedResource, metadata));
});
