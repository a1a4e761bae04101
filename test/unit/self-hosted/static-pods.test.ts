import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { KubeObject } from "../../../src/api/index.ts";
import { staticPod, type StaticPod } from "../../../src/self-hosted/static-pods.ts";
import { controlPlaneObjects, selfHostedContext } from "../../support/self-hosted-control-plane.ts";

const golden = join(import.meta.dirname, "golden");
const nodes = ["a", "b"];
const { workloads, objects } = controlPlaneObjects(selfHostedContext(nodes));
const pods = workloads.map((workload) => staticPod({ workload, objects, nodes }));

test.each(pods.map((made) => [made.pod.metadata.name, made] as const))(
  "%s is as its golden file has it",
  async (name, made) => {
    const file = join(golden, `${name}.yaml`);
    const files = made.files.map(({ path, permissions, hostName }) => ({ path, permissions, hostName }));
    const text = stringify({ pod: made.pod, files }, { aliasDuplicateObjects: false });
    if (process.env["UPDATE_GOLDEN"]) {
      await mkdir(golden, { recursive: true });
      await writeFile(file, text);
    }
    expect(text).toBe(await readFile(file, "utf8"));
  },
);

interface Mounting {
  readonly spec: {
    readonly hostNetwork: boolean;
    readonly containers: readonly { readonly volumeMounts?: readonly { readonly name: string }[] }[];
    readonly volumes?: readonly {
      readonly name: string;
      readonly hostPath?: { readonly path: string; readonly type: string };
    }[];
  };
}

const specOf = ({ pod }: StaticPod): Mounting["spec"] => (pod as unknown as Mounting).spec;
const textOf = ({ manifest }: StaticPod): string =>
  Buffer.from(manifest.content.inline?.data ?? "", "base64").toString();

describe.each(pods.map((made) => [made.pod.metadata.name, made] as const))("%s", (_, made) => {
  test("stands by itself: every mount is a volume of the host, and each folder of files has files for each node", () => {
    const { containers, volumes = [], hostNetwork } = specOf(made);
    expect(hostNetwork).toBe(true);
    for (const { name } of containers.flatMap(({ volumeMounts = [] }) => volumeMounts))
      expect(volumes.map((volume) => volume.name)).toContain(name);
    for (const { hostPath } of volumes)
      if (hostPath?.type === "Directory")
        for (const node of nodes)
          expect(
            made.files.filter(({ path, hostName = node }) => path.startsWith(`${hostPath.path}/`) && hostName === node),
          ).not.toEqual([]);
  });

  test("shows no value of a Secret in its manifest, which all who may read Pods see", () => {
    const text = textOf(made);
    const values = objects
      .filter(({ kind }) => kind === "Secret")
      .flatMap(({ data }) => Object.values(data as Record<string, string>));
    expect(values.length).toBeGreaterThan(10);
    for (const value of values) {
      expect(text).not.toContain(value);
      expect(text).not.toContain(Buffer.from(value, "base64").toString());
    }
  });

  test("comes out of an API server as it went in", () => {
    const workload = workloads.find(({ metadata }) => metadata.name === made.pod.metadata.name) ?? expect.fail("gone");
    const again = staticPod({ workload: defaulted(workload), objects: objects.toReversed(), nodes });
    expect(again.hash).toBe(made.hash);
    expect(textOf(again)).toBe(textOf(made));
  });
});

test("an API server reaches nodes, pods and Services by the network of its node: there is no VPN and no tunnel", () => {
  const made = pods.find(({ pod }) => pod.metadata.name === "kube-apiserver") ?? expect.fail("there is no API server");
  const spec = made.pod["spec"] as { hostNetwork: boolean; containers: { name: string }[]; initContainers?: object[] };
  expect(spec.hostNetwork).toBe(true);
  expect(spec.containers.map(({ name }) => name)).toEqual(["kube-apiserver"]);
  expect(spec.initContainers ?? []).toEqual([]);
  expect(textOf(made)).not.toMatch(/--egress-selector-config-file|konnectivity|vpn/i);
});

/** What an API server adds to a workload. */
function defaulted(workload: KubeObject): KubeObject {
  const copy = structuredClone(workload) as KubeObject & {
    metadata: Record<string, unknown>;
    spec: { template: { spec: Record<string, unknown> & { containers: Record<string, unknown>[] } } };
  };
  const { spec } = copy.spec.template;
  Object.assign(spec, { schedulerName: "default-scheduler", restartPolicy: "Always" });
  for (const container of spec.containers) {
    Object.assign(container, { terminationMessagePath: "/dev/termination-log" });
    const { env = [] } = container as {
      readonly env?: readonly { readonly valueFrom?: { readonly fieldRef?: object } }[];
    };
    for (const { valueFrom } of env) if (valueFrom?.fieldRef) Object.assign(valueFrom.fieldRef, { apiVersion: "v1" });
  }
  return { ...copy, metadata: { ...copy.metadata, uid: "1", resourceVersion: "2", generation: 3 } };
}

const small = (spec: object): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "small", namespace: "kube-system" },
  spec: {
    template: { metadata: { labels: { app: "small" } }, spec: { containers: [{ name: "main", image: "i" }], ...spec } },
  },
});

const configMap = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "kube-system", name },
  data,
});

const mounting = small({ volumes: [{ name: "files", configMap: { name: "files" } }] });

describe("the hash, by which a kubelet starts the pod anew", () => {
  const hashWith = (...found: KubeObject[]) => staticPod({ workload: mounting, objects: found, nodes }).hash;

  test("changes with a file that all nodes have", () => {
    expect(hashWith(configMap("files", { a: "2" }))).not.toBe(hashWith(configMap("files", { a: "1" })));
  });

  test("stays with a file of one node, and is the same for all of them", () => {
    const own = (text: string) => nodes.map((node) => configMap(`files.${node}`, { a: `${text}-${node}` }));
    expect(hashWith(...own("2"))).toBe(hashWith(...own("1")));
  });
});

describe("what needs an API server is refused with its field and a remedy", () => {
  const refused: Readonly<Record<string, readonly [KubeObject, string]>> = {
    "another kind": [
      { ...small({}), kind: "DaemonSet" },
      "DaemonSet small: kind is DaemonSet; only Deployments and StatefulSets become static pods",
    ],
    "no container": [small({ containers: [] }), "spec.template.spec.containers has no container; give it one"],
    "a missing ConfigMap": [
      mounting,
      "volume files names ConfigMap files, which is missing; make it before the static pod",
    ],
    "a claim": [
      small({ volumes: [{ name: "disk", persistentVolumeClaim: { claimName: "disk" } }] }),
      "volume disk is of sort persistentVolumeClaim, which needs an API server",
    ],
    "a token of a ServiceAccount": [
      small({ volumes: [{ name: "token", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] }),
      "volume token projects serviceAccountToken; a static pod has no ServiceAccount: give it a kubeconfig in a Secret",
    ],
    "a Secret as a variable": [
      small({
        containers: [{ name: "main", env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }],
      }),
      "env A of container main names Secret s, which all who may read Pods would see; mount it as a file",
    ],
    "credentials of a registry": [
      small({ imagePullSecrets: [{ name: "s" }] }),
      "imagePullSecrets names Secrets; put the registry's credentials into the configuration of containerd",
    ],
  };

  test.each(Object.entries(refused))("%s", (_, [workload, sentence]) => {
    expect(() => staticPod({ workload, objects: [], nodes })).toThrow(sentence);
  });

  test("an object that only some nodes have", () => {
    expect(() => staticPod({ workload: mounting, objects: [configMap("files.a", { a: "1" })], nodes })).toThrow(
      "and node b has not; make ConfigMap files.b before the static pod",
    );
  });

  test("a file whose path leads out of its volume", () => {
    const workload = small({
      volumes: [{ name: "files", configMap: { name: "files", items: [{ key: "a", path: "../../etc/passwd" }] } }],
    });
    expect(() => staticPod({ workload, objects: [configMap("files", { a: "1" })], nodes })).toThrow(
      'volume files has a file "../../etc/passwd"; name a path inside of the volume',
    );
  });
});

test("the variables of a ConfigMap stand in the manifest, literally", () => {
  const workload = small({
    containers: [{ name: "main", env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "files", key: "a" } } }] }],
  });
  const { pod } = staticPod({ workload, objects: [configMap("files", { a: "$(HOME)" })], nodes });
  expect(pod).toMatchObject({ spec: { containers: [{ env: [{ name: "A", value: "$$(HOME)" }] }] } });
});
