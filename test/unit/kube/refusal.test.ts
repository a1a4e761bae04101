import { describe, expect, test } from "vitest";
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isNamespaceTerminating,
  isNotFound,
} from "../../../src/kube/errors.ts";
import {
  connectionError,
  credentialsError,
  errorOnTheWay,
  refusalError,
  unknownKindError,
} from "../../../src/kube/refusal.ts";

const what = "apply Deployment ns/name";
const server = "https://10.0.0.1";

function refuse(status: number, body: unknown = {}, retryAfter?: number) {
  return refusalError(what, { status, body, server, retryAfter });
}

describe("a refusal", () => {
  test("says what could not be done, to which object, and why", () => {
    const error = refuse(403, { reason: "Forbidden", message: "quota exceeded" });
    expect(error.message).toBe("cannot apply Deployment ns/name: quota exceeded");
    expect(error).toMatchObject({ name: "KubeError", status: 403, reason: "Forbidden", server, causes: [] });
  });

  test.each([
    [502, "<html>Bad Gateway</html>", "<html>Bad Gateway</html>"],
    [503, "", "HTTP 503"],
    [504, undefined, "HTTP 504"],
    [500, {}, "HTTP 500"],
    [502, "x".repeat(2_000), "x".repeat(500)],
  ])("that no API server wrote (%i) still has a message", (status, body, message) => {
    expect(refuse(status, body)).toMatchObject({ message: `cannot ${what}: ${message}`, reason: "", retryable: true });
  });

  const conflict = { reason: "Conflict", message: "the object has been modified" };
  const owned = { ...conflict, details: { causes: [{ reason: "FieldManagerConflict", field: ".spec.replicas" }] } };
  const starting = { reason: "Forbidden", message: 'secrets "ca" is forbidden: not yet ready to handle request' };
  const denied = (webhook: string) => ({
    reason: "Forbidden",
    message: `admission webhook "${webhook}" denied the request: no`,
  });
  const typed =
    "failed to create typed patch object (ns/name; apps/v1, Kind=Deployment): .spec.x: field not declared in schema";
  test.each([
    ["a wrong object", 422, { reason: "Invalid" }, false],
    ["a bad request", 400, { reason: "BadRequest" }, false],
    ["missing rights", 403, { reason: "Forbidden" }, false],
    ["an API server that has just started", 403, starting, true],
    ["a webhook of an extension that failed", 403, denied("controlplane.local.extensions.gardener.cloud"), true],
    ["a webhook that refuses", 403, denied("shoots.admission.perennial.dev"), false],
    ["a missing object", 404, { reason: "NotFound" }, false],
    ["an unknown field in a server-side apply", 500, { message: typed }, false],
    ["a field that another manager owns", 409, owned, false],
    ["an object that exists", 409, { reason: "AlreadyExists", message: "already exists" }, false],
    ["another object of the same name", 409, { reason: "Conflict", message: "uid mismatch: a is not b" }, false],
    ["a lost race", 409, conflict, true],
    ["an object that is still going", 409, { reason: "AlreadyExists", message: "object is being deleted: x" }, true],
    ["a webhook that is down", 500, { reason: "InternalError", message: "failed calling webhook" }, true],
    ["credentials that are being rotated", 401, { reason: "Unauthorized" }, true],
    ["too many requests", 429, { reason: "TooManyRequests" }, true],
    ["history that is gone", 410, { reason: "Expired" }, true],
    ["an unavailable server", 503, { reason: "ServiceUnavailable" }, true],
  ])("for %s (%i) says whether to try again", (_, status, body, retryable) => {
    expect(refuse(status, body).retryable).toBe(retryable);
  });

  test("keeps how long the server asks to wait", () => {
    expect(refuse(429, {}, 7).retryAfter).toBe(7);
    expect(refuse(429).retryAfter).toBeUndefined();
  });
});

describe("a question about an error", () => {
  test("is answered by its status and reason", () => {
    expect(isConflict(refuse(409, { reason: "Conflict" }))).toBe(true);
    expect(isConflict(refuse(409, { reason: "AlreadyExists" }))).toBe(false);
    expect(isAlreadyExists(refuse(409, { reason: "AlreadyExists" }))).toBe(true);
    expect(isNotFound(refuse(404))).toBe(true);
    expect(isExpired(refuse(410))).toBe(true);
    expect(isNamespaceTerminating(refuse(403))).toBe(false);
    const causes = [{ reason: "NamespaceTerminating" }];
    expect(isNamespaceTerminating(refuse(403, { details: { causes } }))).toBe(true);
  });

  test("is answered no for what is no KubeError", () => {
    for (const ask of [isConflict, isAlreadyExists, isNotFound, isExpired, isNamespaceTerminating]) {
      expect(ask(Object.assign(new Error("a"), { status: 409, reason: "AlreadyExists", causes: [] }))).toBe(false);
      expect(ask(undefined)).toBe(false);
    }
  });
});

describe("a call without an answer", () => {
  const server = "https://10.0.0.1";

  test("names the server and the innermost cause, and may succeed later", () => {
    const refused = new AggregateError([new Error("connect ECONNREFUSED ::1:443"), new Error("other")]);
    const error = connectionError(what, server, new TypeError("failed", { cause: refused }));
    expect(error.message).toBe(`cannot ${what}: ${server} is unreachable: connect ECONNREFUSED ::1:443`);
    expect(error).toMatchObject({ status: 0, reason: "Unreachable", retryable: true });
    expect(error.cause).toBeInstanceOf(TypeError);
  });

  test.each(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"])(
    "is a timeout when %s says so",
    (code) => {
      expect(connectionError(what, server, Object.assign(new Error("slow"), { code }))).toMatchObject({
        message: `cannot ${what}: ${server} did not answer in time: slow`,
        reason: "Timeout",
      });
    },
  );
});

test("a call for which there are no credentials says so, and may succeed later", () => {
  const error = credentialsError(what, "https://10.0.0.1", new Error("spawn plugin ENOENT"));
  expect(error.message).toBe(`cannot ${what}: no credentials for https://10.0.0.1: spawn plugin ENOENT`);
  expect(error.retryable).toBe(true);
});

test("a kind that the server lacks may come later", () => {
  const error = unknownKindError("read Widget w", { apiVersion: "test.dev/v1", kind: "Widget" }, server);
  expect(error).toMatchObject({ reason: "UnknownKind", server, retryable: true });
  expect(isNotFound(error)).toBe(true);
});

test("an error on the way to a call keeps its details under the name of that call", () => {
  const error = errorOnTheWay(
    what,
    refusalError("discover v1", { status: 429, body: { message: "busy" }, server, retryAfter: 3 }),
  );
  expect(error).toMatchObject({
    message: `cannot ${what}: cannot discover v1: busy`,
    status: 429,
    server,
    retryAfter: 3,
  });
  const bug = new TypeError("bug");
  expect(errorOnTheWay(what, bug)).toBe(bug);
});
