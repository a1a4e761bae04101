import { z } from "zod";
import type { KubeObject } from "../api/index.ts";
import type { JsonPatchOperation } from "../kube/index.ts";
import { parseJson } from "../parsing.ts";
import { identityOf } from "./metadata.ts";

/** What an API server asks about a request: may it pass, and as what? (admission.k8s.io/v1) */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly userInfo: UserInfo;
  /** Absent on DELETE. */
  readonly object?: KubeObject;
  /** Absent on CREATE. */
  readonly oldObject?: KubeObject;
  readonly dryRun?: boolean;
}

/** Who sent the request. */
export interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The answer: pass, perhaps changed, perhaps with warnings; or not, and why. */
export type Answer =
  | {
      readonly allowed: true;
      readonly patch?: readonly JsonPatchOperation[];
      readonly warnings?: readonly string[];
    }
  | { readonly allowed: false; readonly causes: readonly Cause[]; readonly forbidden: boolean };

/** A field, what is wrong with it and what to do about it; `forbidden` when no other value would help. */
export interface Cause {
  readonly field: string;
  readonly message: string;
  readonly forbidden?: boolean;
}

/** Answers requests. A rejection of its promise fails the request with an error that its sender may try again. */
export type Webhook = (request: AdmissionRequest) => Promise<Answer>;

/** Lets a request pass unless there is a cause against it. */
export function judge(causes: readonly Cause[], warnings: readonly string[] = []): Answer {
  if (causes.length === 0) return { allowed: true, warnings };
  return { allowed: false, causes, forbidden: causes.every(({ forbidden }) => forbidden === true) };
}

/** The request in the body of an AdmissionReview; throws when it is none. */
export function readReview(body: string): AdmissionRequest {
  const request = reviewSchema.parse(parseJson(body, "the request")).request as unknown as AdmissionRequest;
  // Of a collection that is deleted, each object is asked about, and the name is that of none.
  const name = request.name || identityOf(request.oldObject).name;
  return name === undefined ? request : { ...request, name };
}

/** The AdmissionReview that answers a request. */
export function writeReview(request: AdmissionRequest, answer: Answer): string {
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: request.uid, ...(answer.allowed ? passed(answer) : refused(request, answer)) },
  });
}

const reviewSchema = z.object({
  apiVersion: z.literal("admission.k8s.io/v1"),
  kind: z.literal("AdmissionReview"),
  request: z.looseObject({
    uid: z.string(),
    operation: z.enum(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    kind: z.object({ group: z.string(), version: z.string(), kind: z.string() }),
    userInfo: z.looseObject({}).default({}),
    object: z.looseObject({}).nullish().transform(absent),
    oldObject: z.looseObject({}).nullish().transform(absent),
  }),
});

function absent<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}

function passed({ patch = [], warnings = [] }: Extract<Answer, { allowed: true }>) {
  return {
    allowed: true,
    ...(warnings.length > 0 && { warnings }),
    ...(patch.length > 0 && {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
    }),
  };
}

/** How many causes a refusal names: it is for people. */
export const mostCauses = 50;

function refused(request: AdmissionRequest, { causes: all, forbidden }: Extract<Answer, { allowed: false }>) {
  const isNamespace = request.kind.group === "" && request.kind.kind === "Namespace"; // which is said to be in itself
  const name = [isNamespace ? "" : request.namespace, request.name].filter(Boolean).join("/");
  const causes = all.slice(0, mostCauses);
  const more = all.length > mostCauses ? [`and ${all.length - mostCauses} more`] : [];
  const reasons = [...causes.map(({ field, message }) => `${field}: ${message}`), ...more].join("; ");
  return {
    allowed: false,
    status: {
      code: forbidden ? 403 : 422,
      reason: forbidden ? "Forbidden" : "Invalid",
      message: `cannot ${verbs[request.operation]} ${request.kind.kind} ${name}: ${reasons}`,
      details: {
        ...request.kind,
        name: request.name,
        causes: causes.map(({ field, message }) => ({ reason: "FieldValueInvalid", field, message })),
      },
    },
  };
}

const verbs = { CREATE: "create", UPDATE: "update", DELETE: "delete", CONNECT: "connect to" } as const;
