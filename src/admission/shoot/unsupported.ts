import type { Shoot } from "../../api/index.ts";
import type { Cause } from "../review.ts";

/** A field of the Shoot that promises security, or to keep data, and that no component acts on yet. */
interface Unsupported {
  /** From `spec` on; `[]` stands for every item of a list. */
  readonly path: string;
  /** Whether a value asks for what is not there; any value does unless told otherwise. */
  readonly asksForMore?: (value: unknown) => boolean;
  readonly remedy: string;
}

const apiServer = "kubernetes.kubeAPIServer";
const perProject = "leave it out: users and groups come from client certificates and ServiceAccounts";

/**
 * What a Shoot cannot ask for. A field that says who may do what, or what is written down of it, must not be accepted and
 * then ignored: its author would rely on it.
 */
export const unsupportedFields: readonly Unsupported[] = [
  { path: `${apiServer}.auditConfig`, remedy: "leave it out: no audit log is kept" },
  { path: `${apiServer}.structuredAuthentication`, remedy: perProject },
  { path: `${apiServer}.oidcConfig`, remedy: perProject },
  { path: `${apiServer}.clientAuthentication`, remedy: perProject },
  { path: `${apiServer}.structuredAuthorization`, remedy: "leave it out: authorization is by Node and RBAC" },
  {
    path: `${apiServer}.enableAnonymousAuthentication`,
    asksForMore: (value) => value !== false,
    remedy: "leave it out or set it to false: anonymous requests reach /livez, /readyz and /healthz only",
  },
  {
    path: `${apiServer}.serviceAccountConfig.acceptedIssuers`,
    asksForMore: (value) => Array.isArray(value) && value.length > 0,
    remedy: "leave it out: tokens of the issuer in serviceAccountConfig.issuer are accepted only",
  },
  {
    path: `${apiServer}.admissionPlugins[].config`,
    remedy: "leave it out: plugins run with Kubernetes' defaults",
  },
  {
    path: `${apiServer}.admissionPlugins[].kubeconfigSecretName`,
    remedy: "leave it out: plugins run without a kubeconfig",
  },
  {
    path: "provider.workers[].updateStrategy",
    asksForMore: (value) => value !== "AutoRollingUpdate",
    remedy: "leave it out: machines are replaced when they change, and what is on their disks goes with them",
  },
  { path: "maintenance.autoRotation", remedy: "leave it out: credentials are not rotated by themselves" },
  ...["kubernetes.kubelet", "provider.workers[].kubernetes.kubelet"].flatMap((kubelet) =>
    ["imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist"].map((name) => ({
      path: `${kubelet}.${name}`,
      remedy: "leave it out: use the admission plugin AlwaysPullImages",
    })),
  ),
];

/** Why the Shoot cannot have these fields. What it had before stays accepted, so that other fields can be changed. */
export function unsupportedCauses({ spec }: Shoot, old: Shoot | undefined): Cause[] {
  return unsupportedFields.flatMap(({ path, asksForMore = () => true, remedy }) => {
    const before = new Set(old ? valuesAt(old.spec, path).map(({ value }) => JSON.stringify(value)) : []);
    return valuesAt(spec, path)
      .filter(({ value }) => asksForMore(value) && !before.has(JSON.stringify(value)))
      .map(({ field }) => ({ field: `spec.${field}`, message: `is not supported: ${remedy}` }));
  });
}

interface Found {
  readonly field: string;
  readonly value: unknown;
}

/** The values at a path that are set, each with the field that it was found in. */
function valuesAt(spec: unknown, path: string): Found[] {
  const steps = path.replaceAll("[]", ".[]").split(".");
  return steps.reduce<Found[]>((found, step) => found.flatMap((at) => descend(at, step)), [{ field: "", value: spec }]);
}

function descend({ field, value }: Found, step: string): Found[] {
  if (step === "[]") {
    if (!Array.isArray(value)) return [];
    return value.map((item: unknown, index) => ({ field: `${field}[${index}]`, value: item }));
  }
  const next = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step];
  return next === undefined || next === null ? [] : [{ field: field === "" ? step : `${field}.${step}`, value: next }];
}
