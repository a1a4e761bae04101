import fc from "fast-check";
import type { KubeObject } from "../../src/api/index.ts";

/** A write of an object by us, or by another: by an apply of its own, or by an update of whatever is there. */
export interface WriteStep {
  readonly by: "us" | "another's apply" | "another's update";
  readonly object: KubeObject;
}

/** Writes of one object by several writers, as a number makes them; what is written has the name, in namespace `default` where its kind has one. */
export function historyOf(seed: number, name: string): readonly WriteStep[] {
  const history = fc.sample(fc.oneof(...contents.map(historiesOf)), { seed, numRuns: 1 })[0] ?? [];
  return history.map(({ by, object }) => ({ by, object: named(object, name) }));
}

const named = (object: Nameless, name: string): KubeObject => ({ ...object, metadata: { ...object.metadata, name } });

type Content = fc.Arbitrary<Nameless>;

type Nameless = Readonly<Record<string, unknown>> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
};

/** Each step has one of few objects, which differ in one place. */
const historiesOf = (content: Content) =>
  fc
    .record({
      base: content,
      changes: fc.array(fc.record({ at: fc.nat(200), how: fc.constantFrom(...HOW) }), { minLength: 1, maxLength: 3 }),
      steps: fc.array(
        fc.record({
          by: fc.constantFrom("us", "us", "another's apply", "another's update"),
          which: fc.nat(3),
        } as const),
        {
          minLength: 3,
          maxLength: 8,
        },
      ),
    })
    .map(({ base, changes, steps }) => {
      const objects = [base, ...changes.map((change) => changed(base, change))];
      return steps.map(({ by, which }) => ({ by, object: objects[which % objects.length] ?? base }));
    });

const HOW = ["another value", "reversed", "removed", "emptied"] as const;

/** The object with a change at one of its places, which are counted. */
function changed<T extends object>(
  object: T,
  { at, how }: { readonly at: number; readonly how: (typeof HOW)[number] },
): T {
  const copy = structuredClone(object);
  const places = placesIn(copy).filter(({ value }) =>
    how === "another value" ? ["a", "b", ""].includes(value as string) : how === "removed" || typeof value === "object",
  );
  const place = places[at % Math.max(places.length, 1)];
  if (place === undefined) return copy;
  const { parent, key, value } = place;
  if (how === "another value") parent[key] = value === "a" ? "b" : "a";
  else if (how === "reversed") parent[key] = Array.isArray(value) ? value.toReversed() : value;
  else if (how === "emptied") parent[key] = Array.isArray(value) ? [] : {};
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return copy;
}

interface Somewhere {
  readonly parent: Record<string, unknown>;
  readonly key: string;
  readonly value: unknown;
}

const IDENTITY: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "namespace"]);

const placesIn = (value: unknown): Somewhere[] =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [
        ...(IDENTITY.has(key) ? [] : [{ parent: value as Record<string, unknown>, key, value: inner as unknown }]),
        ...placesIn(inner),
      ]);

/** Few values, so that writers meet. */
const word = fc.constantFrom("a", "b", "");
const words = fc.dictionary(fc.constantFrom("x", "y", "perennial.dev/z"), word, { maxKeys: 3 });
const some = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T, keyof T>(fields, { requiredKeys: [] });
const subset = <T>(...items: readonly T[]) => fc.shuffledSubarray([...items]);

const metadata = some({
  labels: words,
  annotations: words,
  finalizers: subset("perennial.dev/one", "perennial.dev/two"),
});
const inDefault = metadata.map((meta) => ({ ...meta, namespace: "default" }));

const container = (name: string) =>
  some({
    env: subset(
      { name: "A", value: "1" },
      { name: "B" },
      { name: "C", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ),
    args: subset("--one", "--two"),
    ports: subset({ containerPort: 80 }, { containerPort: 80, protocol: "UDP" }, { containerPort: 443, name: "https" }),
    resources: fc.constantFrom({}, { limits: { cpu: "1000m" } }, { limits: { cpu: "1", memory: "1024Mi" } }),
    volumeMounts: subset({ name: "v", mountPath: "/v" }, { name: "v", mountPath: "/w", readOnly: true }),
  }).map((fields) => ({ name, image: "image", ...fields }));

const podSpec = fc
  .record({
    first: container("first"),
    second: fc.option(container("second")),
    more: some({
      nodeSelector: words,
      tolerations: subset({ operator: "Exists" }, { key: "x", effect: "NoSchedule" }),
      imagePullSecrets: subset({ name: "p" }, { name: "q" }),
      securityContext: fc.constantFrom({}, { runAsUser: 1 }),
    }),
    reversed: fc.boolean(),
  })
  .map(({ first, second, more, reversed }) => {
    const containers = second === null ? [first] : [first, second];
    return {
      ...more,
      containers: reversed ? containers.toReversed() : containers,
      volumes: [{ name: "v", emptyDir: {} }],
    };
  });

const contents: readonly Content[] = [
  fc
    .record({ metadata: inDefault, more: some({ data: words, immutable: fc.constant(false) }) })
    .map(({ metadata, more }) => ({ apiVersion: "v1", kind: "ConfigMap", metadata, ...more })),
  fc
    .record({
      metadata: inDefault,
      spec: some({
        ports: subset(
          { port: 80, name: "http" },
          { port: 80, protocol: "UDP", name: "udp" },
          { port: 443, name: "https", targetPort: 8443 },
        ).filter((ports) => ports.length > 0),
        selector: words.map((map) => Object.fromEntries(Object.entries(map).filter(([, value]) => value !== ""))),
        type: fc.constant("ClusterIP"),
        internalTrafficPolicy: fc.constantFrom("Cluster", "Local"),
      }),
    })
    .map(({ metadata, spec }) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec,
    })),
  fc
    .record({
      metadata: inDefault,
      spec: podSpec,
      more: some({ strategy: fc.constantFrom({}, { type: "Recreate" }), replicas: fc.constantFrom(0, 1) }),
    })
    .map(({ metadata, spec, more }) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        ...more,
        selector: { matchLabels: { app: "a" } },
        template: { metadata: { labels: { app: "a" } }, spec },
      },
    })),
  fc
    .record({ metadata: inDefault, spec: podSpec })
    .map(({ metadata, spec }) => ({ apiVersion: "v1", kind: "PodTemplate", metadata, template: { spec } })),
  fc
    .record({ metadata, subjects: subset(subject("User", "u"), subject("Group", "g"), subject("Group", "h")) })
    .map(({ metadata, subjects }) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata,
      subjects,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
    })),
  fc
    .record({ metadata: inDefault, rules: subset(rule("get"), rule("list")) })
    .map(({ metadata, rules }) => ({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata, rules })),
  fc
    .record({
      metadata: inDefault,
      more: some({
        automountServiceAccountToken: fc.boolean(),
        imagePullSecrets: subset({ name: "p" }, { name: "q" }),
      }),
    })
    .map(({ metadata, more }) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata, ...more })),
  fc
    .record({
      metadata,
      shoot: fc.record({ spec: some({ a: words, b: subset({ name: "x", n: 1 }, { name: "y" }), c: subset(1, 2) }) }),
    })
    .map(({ metadata, shoot }) => ({
      apiVersion: "extensions.gardener.cloud/v1alpha1",
      kind: "Cluster",
      metadata,
      spec: { shoot, cloudProfile: {}, seed: {} },
    })),
];

function subject(kind: string, name: string) {
  return { apiGroup: "rbac.authorization.k8s.io", kind, name };
}

function rule(verb: string) {
  return { apiGroups: [""], resources: ["pods"], verbs: [verb] };
}
