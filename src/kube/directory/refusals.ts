import type { TypeRef } from "../../api/schema/kind.ts";
import type { ErrorCause, KubeError } from "../errors.ts";
import { refusalError } from "../refusal.ts";
import { resourceName } from "./traits.ts";

/** One call on a directory, as its errors name it: `apply Secret ns/name`, and the URL of the directory. */
export interface Call {
  readonly what: string;
  readonly server: string;
}

interface Answer {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
  readonly causes?: readonly ErrorCause[];
}

/** The error that an API server's answer of this form makes. */
export function refuse({ what, server }: Call, { status, reason, message, causes = [] }: Answer): KubeError {
  return refusalError(what, { status, server, body: { reason, message, details: { causes } } });
}

/** There is no such object. */
export function notFound(call: Call, type: TypeRef, name: string): KubeError {
  return refuse(call, { status: 404, reason: "NotFound", message: `${resourceName(type)} "${name}" not found` });
}

/** An object of that name is there. */
export function alreadyExists(call: Call, type: TypeRef, name: string, going: boolean): KubeError {
  const message = `${going ? "object is being deleted: " : ""}${resourceName(type)} "${name}" already exists`;
  return refuse(call, { status: 409, reason: "AlreadyExists", message });
}

/** The object is not the one, or not as, the caller believes. */
export function conflict(call: Call, type: TypeRef, name: string, why: string): KubeError {
  const message = `Operation cannot be fulfilled on ${resourceName(type)} "${name}": ${why}`;
  return refuse(call, { status: 409, reason: "Conflict", message });
}

/** An object, as an answer about it names it. */
interface Named {
  readonly kind: string;
  readonly name: string;
}

/** A field may not be as it is written; `field` names it. */
export function invalid(call: Call, { kind, name }: Named, field: string, why: string): KubeError {
  const message = `${kind} "${name}" is invalid: ${field}: ${why}`;
  return refuse(call, { status: 422, reason: "Invalid", message, causes: [{ field, message: why }] });
}

/** The request makes no sense. */
export function badRequest(call: Call, message: string): KubeError {
  return refuse(call, { status: 400, reason: "BadRequest", message });
}

/** What a directory has not got, as it takes a server. */
export function notServed(call: Call, what: string): KubeError {
  const message = `a directory has no ${what}: it takes an API server`;
  return refuse(call, { status: 404, reason: "NotFound", message });
}
