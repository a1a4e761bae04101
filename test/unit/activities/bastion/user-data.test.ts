import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bastionUserData } from "../../../../src/activities/bastion/user-data.ts";

/** Runs the script with a folder as its root, and stand-ins for the commands that change the machine. */
function start(sshPublicKey: string): { readonly keys: string; readonly sudoers: string; readonly called: string } {
  const root = mkdtempSync(join(tmpdir(), "bastion-"));
  try {
    const called = join(root, "called");
    const standIns = ["useradd", "chown", "systemctl"].map((name) => `${name}() { echo "${name} $*" >> ${called}; }`);
    const script = bastionUserData(sshPublicKey)
      .replaceAll("/home/", `${root}/home/`)
      .replaceAll("/etc/", `${root}/etc/`);
    const file = join(root, "script");
    writeFileSync(file, ["id() { return 1; }", ...standIns, `mkdir -p ${root}/etc/sudoers.d`, script].join("\n"));
    execFileSync("bash", [file], { cwd: root });
    return {
      keys: readFileSync(join(root, "home/gardener/.ssh/authorized_keys"), "utf8"),
      sudoers: readFileSync(join(root, "etc/sudoers.d/99-gardener-user"), "utf8"),
      called: readFileSync(called, "utf8").replaceAll(root, ""),
    };
  } finally {
    rmSync(root, { recursive: true });
  }
}

it("a bastion lets in user gardener with the key, who may become root", () => {
  const { keys, sudoers, called } = start("ssh-ed25519 AAAAC3 me@example");
  expect(keys).toBe("ssh-ed25519 AAAAC3 me@example\n");
  expect(sudoers).toBe("gardener ALL=(ALL) NOPASSWD:ALL\n");
  expect(called).toContain("useradd --create-home --user-group gardener");
  expect(called).toContain("chown gardener:gardener /home/gardener/.ssh/authorized_keys");
  expect(called).toContain("systemctl start sshd");
});

it.each(["ssh-rsa A $(touch broken)", 'ssh-rsa A `id` "x"', "ssh-rsa A it's '; touch broken; '", "%s\\n$HOME"])(
  "the shell of a bastion reads no command in the key %s",
  (key) => {
    expect(start(key).keys).toBe(`${key}\n`);
  },
);
