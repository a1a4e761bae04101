import "reflect-metadata";
import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as x509 from "@peculiar/x509";
import { expect, test } from "vitest";
import { authorityHashes } from "../../../src/gardenadm/cluster/authorities.ts";
import { joinCommand } from "../../../src/gardenadm/token/join-command.ts";
import { makeCertificates } from "../../support/certificates.ts";

const run = promisify(execFile);
const token = { id: "abcdef", secret: "0123456789abcdef" };

test("an authority is known by the hash of its public key, each of a bundle by its own", async () => {
  const [first, second] = await Promise.all([makeCertificates(), makeCertificates()]);
  const expected = [first.ca, second.ca].map((pem) => {
    const key = Buffer.from(new x509.X509Certificate(pem).publicKey.rawData);
    return `sha256:${createHash("sha256").update(key).digest("hex")}`;
  });
  expect(authorityHashes(`# both\n${first.ca}\n${second.ca}`, "a.yaml")).toEqual(expected);
});

test.each(["", "none", "-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----"])(
  "a join command needs an authority, which %j is not",
  (bundle) => {
    expect(() => authorityHashes(bundle, "--ca-certificate")).toThrow(
      "--ca-certificate has no certificates of an authority in PEM",
    );
  },
);

test.each([false, true])(
  "a shell runs the join command with the token on standard input only, control plane: %s",
  async (isControlPlane) => {
    const authorities = ["sha256:aa", "sha256:bb"];
    const line = joinCommand({ server: "https://[fd00::1]:6443", authorities, token, isControlPlane });
    expect(line).not.toContain("\n");
    const { stdout } = await run("sh", ["-c", `gardenadm() { printf '%s\\n' "$@"; cat; }; ${line}`]);
    expect(stdout.split("\n")).toEqual([
      ...["join", "https://[fd00::1]:6443", "--bootstrap-token", "-"],
      ...["--ca-cert-hash", "sha256:aa", "--ca-cert-hash", "sha256:bb"],
      ...(isControlPlane ? ["--control-plane"] : []),
      ...["abcdef.0123456789abcdef", ""],
    ]);
  },
);

test("a shell takes the server for one word, whatever an extension reports as the host name of the control plane", async () => {
  const server = "https://x;echo$IFS'owned'&`id`";
  const line = joinCommand({ server, authorities: ["sha256:aa"], token, isControlPlane: false });
  const { stdout } = await run("sh", ["-c", `gardenadm() { printf '%s\\n' "$@"; cat; }; ${line}`]);
  expect(stdout.split("\n").slice(0, 2)).toEqual(["join", server]);
});
