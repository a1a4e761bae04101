import type { ControllerInstallation } from "../core/controller-installation.ts";
import { DEPLOYMENT_HASH_LABEL, REGISTRATION_HASH_LABEL, SEED_HASH_LABEL } from "../labels.ts";
import { INSTALLATION_FINALIZER } from "../names.ts";
import type { Condition } from "../schema/meta.ts";
import { hashOf } from "./registered.ts";

/** What an installation is to become, as its labels say it: what the flow compares with what it has done. */
export function wantedHash({ metadata: { labels = {} } }: Pick<ControllerInstallation, "metadata">): string {
  return hashOf([REGISTRATION_HASH_LABEL, DEPLOYMENT_HASH_LABEL, SEED_HASH_LABEL].map((label) => labels[label] ?? ""));
}

/** What Perennial keeps in `status.providerStatus` of an installation: the hash that is installed, and the chart's name. */
export interface HelmStatus {
  readonly apiVersion: "perennial.dev/v1alpha1";
  readonly kind: "HelmInstallation";
  readonly hash: string;
}

/** The hash that is installed; undefined before the first success, and where an operator installs. */
export function installedHash({ status }: Pick<ControllerInstallation, "status">): string | undefined {
  const { kind, hash } = (status?.providerStatus ?? {}) as Partial<Record<keyof HelmStatus, unknown>>;
  return kind === "HelmInstallation" && typeof hash === "string" ? hash : undefined;
}

/** What it keeps there while it takes away what the chart has made, because an operator is to install the controller. */
export interface HelmRemoval {
  readonly apiVersion: "perennial.dev/v1alpha1";
  readonly kind: "HelmRemoval";
}

/** Whether Perennial is taking away what it has installed, and has nothing else to say of it. */
export const isHandedOver = ({ status }: Pick<ControllerInstallation, "status">): boolean =>
  ((status?.providerStatus ?? {}) as Partial<Record<keyof HelmRemoval, unknown>>).kind === "HelmRemoval";

/** Whether there may be something in the seed that Perennial has installed. */
export const isHeld = ({ metadata }: Pick<ControllerInstallation, "metadata">): boolean =>
  (metadata.finalizers ?? []).includes(INSTALLATION_FINALIZER);

/** Why a controller does not serve its Seed yet, and since when (RFC 3339, where it is known). */
export interface NotReady {
  readonly reason: string;
  readonly since?: string;
}

/** Whether the controller serves its Seed: Valid, Installed and Healthy, and not Progressing (contract C8.2). */
export function whyNotReady({ metadata, status }: ControllerInstallation): NotReady | undefined {
  if (metadata.deletionTimestamp !== undefined)
    return { reason: "it is being removed", since: metadata.deletionTimestamp };
  const conditions = status?.conditions ?? [];
  for (const [type, wanted] of readyWhen) {
    const found = conditions.find((condition) => condition.type === type);
    if (found?.status !== wanted) return notReady(type, wanted, found);
  }
  return undefined;
}

const readyWhen = [
  ["Valid", "True"],
  ["Installed", "True"],
  ["Healthy", "True"],
  ["Progressing", "False"],
] as const;

function notReady(type: string, wanted: "True" | "False", found: Condition | undefined): NotReady {
  if (found === undefined) return { reason: `it is not known whether it is ${type}` };
  const { message, lastTransitionTime } = found;
  return { reason: `${wanted === "True" ? `not ${type}` : type}: ${message}`, since: lastTransitionTime };
}

/** Whether an operator has said anything of the installation: where no method is declared, only then Shoots wait for it. */
export const isSpokenFor = ({ status }: Pick<ControllerInstallation, "status">): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === "Valid" || type === "Installed");
