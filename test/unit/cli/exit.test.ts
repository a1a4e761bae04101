import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WorkflowNotFoundError } from "@temporalio/client";
import { expect, it } from "vitest";
import { exitCodeHelp, exitCodes, explainError } from "../../../src/cli/exit.ts";
import { perennial } from "../../../src/cli/perennial.ts";
import { KubeError } from "../../../src/kube/index.ts";

const details = { status: 0, reason: "", retryable: false };

it("the exit codes are those of the help and of the documentation, each once", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
  for (const text of [exitCodeHelp(perennial.exits), page.slice(page.indexOf("## Exit codes"))])
    expect([...text.matchAll(/^ *(\d+) {2,}\S/gm)].map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
});

it.each([
  ["an API server that does not answer in time", noAnswer("Timeout", "UND_ERR_HEADERS_TIMEOUT")],
  ["an API server that hangs up", noAnswer("Unreachable", "UND_ERR_SOCKET")],
  ["an API server whose certificate is another's", noAnswer("Unreachable", "SELF_SIGNED_CERT_IN_CHAIN")],
  ["a connection of Temporal's that breaks", grpc(14)],
  ["a question that Temporal leaves without an answer", new Error("cannot ask", { cause: grpc(4) })],
])("the exit code for %s says that it does not answer", (_, error) => {
  expect(explainError(error).exit).toBe("unreachable");
});

it.each([
  ["credentials that are missing on this machine", noAnswer("NoCredentials", "ENOENT")],
  ["what the garden refuses", new KubeError("cannot patch Shoot a/b: no", { ...details, status: 422 })],
  ["what Temporal refuses", grpc(9)],
])("the exit code for %s says that it failed", (_, error) => {
  expect(explainError(error).exit).toBe("failed");
});

it("the exit code for a workflow that Temporal does not know says that it does not exist", () => {
  const cause = new WorkflowNotFoundError("no rows", "shoot/a/b/c", undefined);
  expect(explainError(new Error("there is no workflow shoot/a/b/c", { cause })).exit).toBe("notFound");
});

function noAnswer(reason: string, code: string): KubeError {
  const cause = Object.assign(new Error(code), { code });
  return new KubeError("cannot list Shoot", { ...details, reason }, { cause });
}

function grpc(code: number): Error {
  return Object.assign(new Error("grpc"), { code, details: "", metadata: {} });
}
