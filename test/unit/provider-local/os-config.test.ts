import { describe, expect, test } from "vitest";
import { renderUserData } from "../../../src/provider-local/machine-image/user-data.ts";

const spec = { type: "local", purpose: "provision" } as const;
const noSecret = async () => {
  throw new Error("not asked for");
};

describe("a machine's user data", () => {
  test("has text as text and bytes as base64", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00]).toString("base64");
    const files = [
      { path: "/etc/plain", permissions: 0o600, content: { inline: { encoding: "", data: "text" } } },
      { path: "/etc/b64", content: { inline: { encoding: "b64", data: Buffer.from("äöü").toString("base64") } } },
      { path: "/etc/bytes", content: { inline: { encoding: "base64", data: bytes } } },
    ];
    expect(await renderUserData({ ...spec, files }, noSecret)).toEqual({
      files: [
        { path: "/etc/plain", permissions: 0o600, content: "text" },
        { path: "/etc/b64", content: "äöü" },
        { path: "/etc/bytes", content: bytes, encoding: "b64" },
      ],
      units: [],
    });
  });

  test("takes contents from Secrets", async () => {
    const files = [{ path: "/etc/token", content: { secretRef: { name: "tokens", dataKey: "kubelet" } } }];
    const userData = await renderUserData({ ...spec, files }, async (name, key) => `${name}/${key}`);
    expect(userData.files).toEqual([{ path: "/etc/token", content: "tokens/kubelet" }]);
  });

  test("says what is wrong with a file, by code", async () => {
    const image = [{ path: "/opt/x", content: { imageRef: { image: "x", filePathInImage: "/x" } } }];
    await expect(renderUserData({ ...spec, files: image }, noSecret)).rejects.toMatchObject({
      message: "cannot write file /opt/x: its content is neither inline nor in a Secret",
      codes: ["ERR_CONFIGURATION_PROBLEM"],
    });
  });

  test("puts the command of this operating system in place of GEP-1's placeholder", async () => {
    const text = "ExecStart=/bin/sh -c '{RELOAD-CLOUD-CONFIG-WITH-PATH:/var/lib/config.json}'";
    const userData = await renderUserData(
      {
        ...spec,
        units: [
          {
            name: "agent.service",
            enable: true,
            command: "start",
            content: text,
            dropIns: [{ name: "10.conf", content: "[Service]" }],
          },
        ],
        files: [{ path: "/x", content: { inline: { encoding: "b64", data: Buffer.from(text).toString("base64") } } }],
      },
      noSecret,
    );
    const replaced = "ExecStart=/bin/sh -c '/opt/bin/apply-machine-config /var/lib/config.json'";
    expect(userData.files[0]?.content).toBe(replaced);
    expect(userData.units).toEqual([
      { name: "agent.service", enable: true, command: "start", content: `${replaced}\n[Service]` },
    ]);
  });
});
