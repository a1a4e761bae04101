import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { ensureModuleFiles } from "../../src/local/binary/module-files.ts";
import { cacheDirectory, ensureBinaries } from "../../src/local/binary/binaries.ts";
import { versions } from "../../src/local/binary/versions.ts";
import type { Image } from "../../src/local/image/build.ts";
import { baseFiles, describePause } from "../../src/local/image/images.ts";
import { removeOldBuilds } from "../../src/local/image/program-image.ts";
import { once } from "../../src/local/image/once.ts";
import { writeImagesTar, type ImageFile, type ImageSpec } from "../../src/local/image/tar.ts";
import type { Logger } from "../../src/log.ts";
import { ensureToolsLayer } from "./tools-layer.ts";

/** The images that a suite asks for, as far as they can be built. */
export interface SuiteImages {
  /** One archive with all of them. */
  readonly archive: Image;
  readonly built: readonly string[];
  /** The names that nothing here can be built for. */
  readonly missing: readonly string[];
}

/** Builds, of the images of these names, those that can be built without a registry of images. They are kept in the cache. */
export async function buildSuiteImages(
  names: readonly string[],
  { log, tell }: { readonly log: Logger; readonly tell: (message: string) => void },
): Promise<SuiteImages> {
  const recipes = await collectRecipes(log, tell);
  const specs = names.toSorted().flatMap((name) => {
    const recipe = recipes[repositoryOf(name)];
    return recipe === undefined ? [] : [{ name, ...recipe }];
  });
  const built = specs.map(({ name }) => name);
  const folder = join(cacheDirectory(), "images");
  await mkdir(folder, { recursive: true });
  const tar = join(folder, `suite-${await contentKey(specs)}.tar`);
  await once(tar, async () => {
    tell(`building ${specs.length} images of the suite`);
    await writeImagesTar(specs, tar);
    await removeOldBuilds(folder, "suite-");
  });
  const archive = { name: `suite:${versions.kubernetes}`, tar };
  return { archive, built, missing: names.filter((name) => !built.includes(name)) };
}

type Recipe = Omit<ImageSpec, "name">;

/** The registry and path of an image's name. */
const repositoryOf = (name: string): string => name.replace(/:[^:/]*$/, "");

async function collectRecipes(log: Logger, tell: (message: string) => void): Promise<Readonly<Record<string, Recipe>>> {
  const options = { log, pinned: true, onProgress: tell };
  const programs = await ensureBinaries(
    ["agnhost", "nonewprivs", "sample-apiserver", "etcd", "etcdctl", "coredns"],
    options,
  );
  const cache = cacheDirectory();
  const base = await ensureToolsLayer(cache, tell);
  const module = { module: "k8s.io/kubernetes", version: versions.kubernetes };
  const folders = ["agnhost/porter", "kitten/html", "nautilus/html"].map((folder) => `test/images/${folder}`);
  const sources = join(await ensureModuleFiles({ ...module, folders }), "test/images");
  const agnhost = [program("/agnhost", programs.agnhost), program("/coredns", programs.coredns)];
  const pets = (name: string): Recipe => ({
    files: [
      ...[...baseFiles, program("/agnhost", programs.agnhost)],
      ...[`${name}.jpg`, "data.json"].map((file) => plain(`/${file}`, join(sources, name, "html", file))),
    ],
    entrypoint: ["/agnhost"],
    command: ["test-webserver"],
  });
  // The suite holds what this shell says of a file that it cannot write against BusyBox's own words.
  const links = { "/bin/sh": "busybox", "/usr/local/bin/sh": "/bin/bash" };
  const busybox = { ...{ base, files: users, links }, command: ["sh"] };
  const tests = (name: string) => `registry.k8s.io/e2e-test-images/${name}`;
  return {
    [tests("agnhost")]: {
      ...{ base, entrypoint: ["/agnhost"], command: ["pause"] },
      files: [
        ...[...users, ...agnhost, text("/uploads/.keep", "")],
        ...["localhost.crt", "localhost.key"].map((file) => plain(`/${file}`, join(sources, "agnhost/porter", file))),
      ],
      links: { "/agnhost-2": "agnhost" },
    },
    [tests("busybox")]: busybox,
    [tests("nonroot")]: { ...busybox, user: 1234 },
    [tests("nonewprivs")]: {
      ...{ base, command: ["nnp"] },
      files: [...users, { path: "/usr/local/bin/nnp", source: programs.nonewprivs, mode: 0o4755 }],
    },
    [tests("jessie-dnsutils")]: { base, files: [...users, ...agnhost.slice(1)], command: ["bash"] },
    [tests("httpd")]: { base, files: [...users, ...httpd], command: ["httpd-foreground"] },
    [tests("nginx")]: { base, files: [...users, ...nginx], command: ["nginx", "-g", "daemon off;"] },
    [tests("kitten")]: pets("kitten"),
    [tests("nautilus")]: pets("nautilus"),
    [tests("sample-apiserver")]: {
      files: [...baseFiles, program("/sample-apiserver", programs["sample-apiserver"])],
      entrypoint: ["/sample-apiserver"],
    },
    "registry.k8s.io/etcd": {
      files: [
        ...baseFiles,
        ...[programs.etcd, programs.etcdctl].map((path) => program(`/usr/local/bin/${basename(path)}`, path)),
      ],
    },
    "registry.k8s.io/pause": await describePause(join(cache, "images")),
  };
}

const program = (path: string, source: string): ImageFile => ({ path, source, mode: 0o755 });
const plain = (path: string, source: string): ImageFile => ({ path, source, mode: 0o644 });
const text = (path: string, lines: string, mode = 0o644): ImageFile => ({ path, text: lines, mode });

/** Those whom the suite expects in its images. */
const users: readonly ImageFile[] = [
  text(
    "/etc/passwd",
    [
      "root:x:0:0:root:/root:/bin/sh",
      "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin",
      "user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh",
      "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin",
      "",
    ].join("\n"),
  ),
  text(
    "/etc/group",
    [
      "root:x:0:",
      "www-data:x:33:",
      "user-defined-in-image:x:1000:",
      "group-defined-in-image:x:50000:user-defined-in-image",
      "nogroup:x:65534:",
      "",
    ].join("\n"),
  ),
  text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
];

/** Apache, laid out as its own image is. */
const httpd: readonly ImageFile[] = [
  text(
    "/usr/local/bin/httpd-foreground",
    "#!/bin/sh\nexec apache2 -DFOREGROUND -f /usr/local/apache2/conf/httpd.conf\n",
    0o755,
  ),
  text("/usr/local/apache2/htdocs/index.html", "<html><body><h1>It works!</h1></body></html>\n"),
  text(
    "/usr/local/apache2/conf/httpd.conf",
    [
      ...["mpm_event", "authz_core", "dir", "mime"].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      ),
      "ServerName localhost",
      "Listen 80",
      "User www-data",
      "Group www-data",
      "PidFile /tmp/httpd.pid",
      "ErrorLog /proc/self/fd/2",
      "TypesConfig /dev/null",
      "DocumentRoot /usr/local/apache2/htdocs",
      "DirectoryIndex index.html",
      "",
    ].join("\n"),
  ),
];

const nginx: readonly ImageFile[] = [
  text("/var/log/nginx/.keep", ""),
  text("/var/lib/nginx/.keep", ""),
  text("/run/.keep", ""),
  text("/usr/share/nginx/html/index.html", "<html><body><h1>Welcome to nginx!</h1></body></html>\n"),
  text(
    "/etc/nginx/nginx.conf",
    [
      "user www-data;",
      "pid /tmp/nginx.pid;",
      "error_log /dev/stderr;",
      "events {}",
      "http { access_log /dev/stdout; server { listen 80; root /usr/share/nginx/html; } }",
      "",
    ].join("\n"),
  ),
];

/** Changes when the archive would. */
async function contentKey(specs: readonly ImageSpec[]): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(specs));
  const files = specs.flatMap(({ files }) => files.flatMap((file) => ("source" in file ? [file.source] : [])));
  for (const file of new Set(files)) {
    const { size, mtimeMs } = await stat(file);
    hash.update(` ${size} ${mtimeMs}`);
  }
  return hash.digest("hex").slice(0, 12);
}
