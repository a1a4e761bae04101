import type { z } from "zod";
import { ociRepository as ociSchema, type ControllerDeployment } from "../core/controller-deployment.ts";
import type { ControllerRegistration } from "../core/controller-registration.ts";
import type { Raw } from "../schema/fields.ts";

/** Where a chart is: in the object itself, packaged and in base64, or in a registry. Secrets are in namespace `garden`. */
export type ChartSource =
  | { readonly in: "object"; readonly base64: string }
  | { readonly in: "registry"; readonly ref: string; readonly pullSecret?: string; readonly caSecret?: string };

/** How a Helm chart makes a controller. */
export interface HelmDeployment {
  readonly chart: ChartSource;
  readonly values: Raw;
  /** The controller's pods get access to the garden. */
  readonly injectGardenKubeconfig: boolean;
}

/** What a deployment says, as one of both shapes says it; `problem` is a sentence about what is missing. */
export type DeploymentReading =
  | { readonly is: "helm"; readonly helm: HelmDeployment }
  | { readonly is: "other"; readonly type: string }
  | { readonly is: "invalid"; readonly problem: string };

/** Reads seed 001's inline shape: `type: helm` with `chart` and `values`. */
export function readInlineDeployment({ spec }: Pick<ControllerRegistration, "spec">): DeploymentReading {
  const { type = "", providerConfig = {} } = spec.deployment ?? {};
  return readTyped({ type, providerConfig, injectGardenKubeconfig: false });
}

/** Reads a ControllerDeployment: today's `helm`, or the earlier `type` and `providerConfig`. */
export function readDeployment(deployment: Omit<ControllerDeployment, "apiVersion" | "kind">): DeploymentReading {
  const { helm, type, providerConfig = {}, injectGardenKubeconfig = false, metadata } = deployment;
  const object = `ControllerDeployment ${metadata.name}`;
  if (helm === undefined && type === undefined) return invalid(`${object} says neither helm nor type`);
  if (helm === undefined) return readTyped({ type: type ?? "", providerConfig, injectGardenKubeconfig });
  const { rawChart, ociRepository } = helm;
  const values = helm.values ?? {};
  const chart = rawChart === undefined ? readRegistry(ociRepository) : inObject(rawChart);
  if (chart === undefined) return invalid(`${object} names no chart: set helm.rawChart or helm.ociRepository`);
  return { is: "helm", helm: { chart, values, injectGardenKubeconfig } };
}

interface Typed {
  readonly type: string;
  readonly providerConfig: Raw;
  readonly injectGardenKubeconfig: boolean;
}

function readTyped({ type, providerConfig, injectGardenKubeconfig }: Typed): DeploymentReading {
  if (type !== "helm") return { is: "other", type };
  const { chart: base64 } = providerConfig;
  const values = providerConfig["values"] ?? {};
  const { error, data: ociRepository } = ociSchema.optional().safeParse(providerConfig["ociRepository"] ?? undefined);
  if (error !== undefined) {
    const [{ path, message } = { path: [], message: "" }] = error.issues;
    return invalid(`${["providerConfig", "ociRepository", ...path].join(".")} cannot be read: ${message}`);
  }
  const chart = typeof base64 === "string" ? inObject(base64) : readRegistry(ociRepository);
  if (chart === undefined) return invalid("providerConfig names no chart: set providerConfig.chart, in base64");
  if (!isMap(values)) return invalid("providerConfig.values is no map");
  return { is: "helm", helm: { chart, values, injectGardenKubeconfig } };
}

const inObject = (base64: string): ChartSource => ({ in: "object", base64 });

/** A digest says exactly what is meant, and so it wins over a tag; a reference may carry either. */
function readRegistry(repository: z.infer<typeof ociSchema> | undefined): ChartSource | undefined {
  if (repository === undefined) return undefined;
  const { ref, repository: base, tag, digest, pullSecretRef, caBundleSecretRef } = repository;
  const named = ref ?? (base === undefined ? undefined : `${base}${suffixOf(tag, digest)}`);
  if (named === undefined) return undefined;
  return {
    in: "registry",
    ref: named.replace(/^oci:\/\//, ""),
    ...(pullSecretRef === undefined ? {} : { pullSecret: pullSecretRef.name }),
    ...(caBundleSecretRef === undefined ? {} : { caSecret: caBundleSecretRef.name }),
  };
}

function suffixOf(tag: string | undefined, digest: string | undefined): string {
  if (digest !== undefined) return `@${digest}`;
  return tag === undefined ? "" : `:${tag}`;
}

const invalid = (problem: string): DeploymentReading => ({ is: "invalid", problem });

const isMap = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value);
