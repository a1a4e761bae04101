import semver from "semver";
import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";
import { suggestion } from "../text.ts";
import { knownGates } from "./known-gates.ts";

/**
 * Why a component of Kubernetes would not start with the feature gates that it is given: its version does not have them, or has
 * them for good (Gardener: ValidateFeatureGates). Versions whose gates are not known here are left to {@link gateWarnings}.
 */
export function gateCauses(shoot: Shoot): Cause[] {
  return settingsOf(shoot).flatMap(wrongGates).slice(0, mostNamed).map(gateCause);
}

/** A gate that its version does not have, or not with this value. */
interface WrongGate {
  readonly field: string;
  readonly name: string;
  readonly minor: string;
  readonly wrong: "unknown" | "on" | "off";
}

function wrongGates({ field, gates, minor }: Setting): WrongGate[] {
  const known = knownGates[minor];
  const given = Object.entries(gates);
  if (known === undefined || given.length === 0) return [];
  const [open, on, off] = [known.open, known.on, known.off].map((names) => new Set(names));
  return given.flatMap(([name, value]): WrongGate[] => {
    const [same, other, forGood] = value ? ([on, off, "off"] as const) : ([off, on, "on"] as const);
    if (!/^[A-Za-z0-9]+$/.test(name) || open?.has(name) || same?.has(name)) return [];
    return [{ field, name, minor, wrong: other?.has(name) ? forGood : "unknown" }];
  });
}

function gateCause({ field, name, minor, wrong }: WrongGate): Cause {
  const message =
    wrong === "unknown"
      ? `is no feature gate of Kubernetes ${minor}${suggestion(name, Object.values(knownGates[minor] ?? {}).flat())}`
      : `is ${String(wrong === "on")} for good in Kubernetes ${minor}: leave it out`;
  return { field: `${field}.${name.slice(0, 80)}`, message };
}

/** Warns of feature gates that are new in a Shoot, of a version whose gates are not known here. */
export function gateWarnings(shoot: Shoot, old?: Shoot): string[] {
  const [now, before = []] = [shoot, old].map((one) => one && settingsOf(one).flatMap(unjudged));
  return (now ?? []).filter((warning) => !before.includes(warning));
}

function unjudged({ field, gates, minor }: Setting): string[] {
  if (knownGates[minor] !== undefined || Object.keys(gates).length === 0) return [];
  const names = Object.keys(gates).slice(0, mostNamed).join(", ").slice(0, 300);
  return [
    `${field}: not judged: the gates of Kubernetes ${minor} are not known here, and one that it does not have keeps its component from starting (${names})`,
  ];
}

/** The gates of one component. */
interface Setting {
  readonly field: string;
  readonly gates: Readonly<Record<string, boolean>>;
  /** Of the component's version, such as `1.34`. */
  readonly minor: string;
}

function settingsOf({ spec }: Shoot): Setting[] {
  const { version, kubeAPIServer, kubeControllerManager, kubeScheduler, kubeProxy, kubelet } = spec.kubernetes;
  const components = { kubeAPIServer, kubeControllerManager, kubeScheduler, kubeProxy, kubelet };
  const setting = (path: string, config: Config, ofVersion = version) => ({
    field: `${path}.featureGates`,
    gates: config?.featureGates ?? {},
    minor: minorOf(ofVersion),
  });
  return [
    ...Object.entries(components).map(([name, config]) => setting(`spec.kubernetes.${name}`, config)),
    ...(spec.provider.workers ?? []).map(({ kubernetes }, index) =>
      setting(`spec.provider.workers[${index}].kubernetes.kubelet`, kubernetes?.kubelet, kubernetes?.version),
    ),
  ];
}

type Config = { readonly featureGates?: Readonly<Record<string, boolean>> | undefined } | undefined;

function minorOf(version: string): string {
  const parsed = semver.coerce(version);
  return parsed ? `${parsed.major}.${parsed.minor}` : version;
}

/** A refusal is for people: it does not repeat all that it was given. */
const mostNamed = 10;
