import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { shorten } from "../text.ts";

type WorkerPool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/**
 * Why words of the Shoot cannot be passed on: they become flags, lines of a unit file or labels of nodes. The schema checks
 * the values; it cannot check the keys of a map (Gardener: ValidateWorker).
 */
export function wordCauses({ spec }: Shoot): Cause[] {
  const { kubeAPIServer, kubeControllerManager, kubeScheduler, kubeProxy, kubelet } = spec.kubernetes;
  const components = { kubeAPIServer, kubeControllerManager, kubeScheduler, kubeProxy, kubelet };
  return [
    ...Object.entries(components).flatMap(([name, config]) =>
      keyCauses(`spec.kubernetes.${name}.featureGates`, config?.featureGates, featureGate),
    ),
    ...keyCauses("spec.kubernetes.kubeAPIServer.runtimeConfig", kubeAPIServer?.runtimeConfig, apiName),
    ...keyCauses("spec.seedSelector.matchLabels", spec.seedSelector?.matchLabels, labelKey),
    ...(spec.provider.workers ?? []).flatMap((pool, index) => poolCauses(pool, `spec.provider.workers[${index}]`)),
  ];
}

function poolCauses({ labels, annotations, taints, kubernetes }: WorkerPool, field: string): Cause[] {
  const size = Object.entries(annotations ?? {}).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  const tooLong = { field: `${field}.annotations`, message: "must have at most 262144 characters together" };
  return [
    ...keyCauses(`${field}.labels`, labels, labelKey),
    ...valueCauses(`${field}.labels`, labels),
    ...keyCauses(`${field}.annotations`, annotations, labelKey),
    ...(size > 262_144 ? [tooLong] : []),
    ...keyCauses(`${field}.kubernetes.kubelet.featureGates`, kubernetes?.kubelet?.featureGates, featureGate),
    ...taintCauses(taints ?? [], `${field}.taints`),
  ];
}

/** Taints are told apart by key and effect. */
function taintCauses(taints: NonNullable<WorkerPool["taints"]>, field: string): Cause[] {
  const seen = new Set<string>();
  return taints.flatMap(({ key, value = "", effect }, index): Cause[] => {
    const same = seen.has(`${key}:${effect}`);
    seen.add(`${key}:${effect}`);
    const at = `${field}[${index}]`;
    return [
      ...(labelKey.pattern(key) ? [] : [{ field: `${at}.key`, message: labelKey.message }]),
      ...(isLabelValue(value) ? [] : [{ field: `${at}.value`, message: labelValueMessage }]),
      ...(effects.has(effect) ? [] : [{ field: `${at}.effect`, message: `must be one of ${[...effects].join(", ")}` }]),
      ...(same ? [{ field: at, message: "must be the only taint with its key and effect" }] : []),
    ];
  });
}

const effects: ReadonlySet<string> = new Set(["NoSchedule", "PreferNoSchedule", "NoExecute"]);

interface Form {
  readonly pattern: (text: string) => boolean;
  readonly message: string;
}

const word = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const domainOf = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const matches = (pattern: string, maxLength: number) => {
  const whole = new RegExp(`^(?:${pattern})$`);
  return (text: string) => text.length <= maxLength && whole.test(text);
};

const isLabelValue = matches(`(${word})?`, 63);
const labelValueMessage = "must be at most 63 letters, digits and - _ . between letters or digits";
const labelKey: Form = {
  pattern: matches(`(${domainOf}/)?${word}`, 317),
  message: "must be a name like example.com/name",
};
const featureGate: Form = {
  pattern: matches("[A-Za-z][A-Za-z0-9]*", 80),
  message: "must be the name of a feature gate",
};
const apiName: Form = {
  pattern: matches("[a-z0-9][-a-z0-9.]*(/[a-z0-9]+){0,2}", 317),
  message: "must be an API such as apps/v1 or api/all",
};

function keyCauses(field: string, map: Readonly<Record<string, unknown>> | undefined, form: Form): Cause[] {
  return Object.keys(map ?? {})
    .filter((key) => !form.pattern(key))
    .slice(0, mostNamed)
    .map((key) => ({ field: `${field}[${shorten(key)}]`, message: form.message }));
}

function valueCauses(field: string, labels: Readonly<Record<string, string>> | undefined): Cause[] {
  return Object.entries(labels ?? {})
    .filter(([, value]) => !isLabelValue(value))
    .slice(0, mostNamed)
    .map(([key]) => ({ field: `${field}[${shorten(key)}]`, message: labelValueMessage }));
}

/** A refusal is for people: it does not repeat all that it was given. */
const mostNamed = 10;
