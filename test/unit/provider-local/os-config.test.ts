import { describe, expect, test } from "vitest";
import { operatingSystemConfigs, poolsOf } from "../../../src/components/index.ts";
import { toUserData } from "../../../src/local/machine/machine-config.ts";
import { adaptKubelet } from "../../../src/provider-local/machine-image/kubelet.ts";
import { renderUserData } from "../../../src/provider-local/machine-image/user-data.ts";
import { parse } from "yaml";
import { exampleContext } from "../../support/control-plane-context.ts";

const spec = { type: "local", purpose: "provision" } as const;
const noSecret = async () => {
  throw new Error("not asked for");
};
const text = (path: string, data: string) => ({ path, content: { inline: { encoding: "", data } } });

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

  test.each([
    [{ imageRef: { image: "x:v1", filePathInImage: "/x" } }, "machines here have no registry to get /x of x:v1 from"],
    [{}, "it has no content"],
    [{ inline: { encoding: "rot13", data: "" } }, "encoding rot13 is not known; it may be plain, b64 or base64"],
  ])("says what is wrong with a file of %j, by code", async (content, why) => {
    await expect(renderUserData({ ...spec, files: [{ path: "/opt/x", content }] }, noSecret)).rejects.toMatchObject({
      message: `cannot write file /opt/x: ${why}`,
      codes: ["ERR_CONFIGURATION_PROBLEM"],
    });
  });
});

describe("an OperatingSystemConfig on a machine of this host", () => {
  test("has what its controller adds in the place of what has the same name, and drop-ins behind it", () => {
    const config = {
      spec: {
        ...spec,
        files: [text("/a", "ours"), text("/b", "ours")],
        units: [{ name: "kubelet.service", enable: true, content: "[Service]\nExecStart=ours\n", filePaths: ["/a"] }],
      },
      status: {
        extensionFiles: [text("/b", "theirs"), text("/c", "new")],
        extensionUnits: [
          {
            name: "kubelet.service",
            dropIns: [{ name: "10-a.conf", content: "[Service]\nExecStart=\nExecStart=theirs" }],
            filePaths: ["/c"],
          },
          { name: "own.service", content: "theirs" },
          { name: "systemd-user-sessions.service", dropIns: [{ name: "a.conf", content: "[Unit]" }] },
        ],
      },
    };
    expect(toUserData(config)).toEqual({
      files: [
        { path: "/a", content: "ours" },
        { path: "/b", content: "theirs" },
        { path: "/c", content: "new" },
      ],
      units: [
        {
          name: "kubelet.service",
          enable: true,
          content: "[Service]\nExecStart=ours\n\n[Service]\nExecStart=\nExecStart=theirs",
          filePaths: ["/a", "/c"],
        },
        { name: "own.service", content: "theirs" },
      ],
    });
  });

  test("has the files of this machine, and not those of another", () => {
    const files = [
      { ...text("/a", "one"), hostName: "one" },
      { ...text("/a", "two"), hostName: "two" },
      text("/b", ""),
    ];
    const pathsFor = (name: string) => toUserData({ spec: { ...spec, files } }, name).files;
    expect(pathsFor("two")).toEqual([
      { path: "/a", content: "two" },
      { path: "/b", content: "" },
    ]);
    expect(pathsFor("three")).toHaveLength(1);
  });

  test("stops a unit that is to be stopped, whether or not its text is there", () => {
    const units = [{ name: "a.service", command: "stop" as const }];
    expect(toUserData({ spec: { ...spec, units } }).units).toEqual([{ name: "a.service", command: "stop" }]);
  });

  test("of ours, boots into nothing but files, and runs nothing but a kubelet of the pool's own version", () => {
    const context = exampleContext();
    const [pool] = poolsOf(context);
    const [provision, reconcile] = pool === undefined ? [] : operatingSystemConfigs(context, pool);
    if (provision === undefined || reconcile === undefined) throw new Error("the example has a pool");
    const inlined = (config: typeof provision) => ({
      ...config.spec,
      files: (config.spec.files ?? []).map((file) =>
        file.content.secretRef === undefined ? file : text(file.path, "authority"),
      ),
    });
    expect(toUserData({ spec: inlined(provision) }).units).toEqual([]);
    const { files, units } = toUserData({ spec: inlined(reconcile), status: adaptKubelet(reconcile.spec) });
    expect(units.map(({ name }) => name)).toEqual(["kubelet.service"]);
    expect(files.filter((file) => "program" in file)).toEqual([
      { path: "/opt/bin/kubelet", program: "/opt/kubernetes/1.34.4/kubelet" },
    ]);
    const config = files.find(({ path }) => path === "/var/lib/kubelet/config/kubelet");
    expect(parse(config !== undefined && "content" in config ? config.content : "")).toMatchObject({
      cgroupDriver: "cgroupfs",
      evictionSoft: {},
      maxPods: 50,
    });
  });
});
