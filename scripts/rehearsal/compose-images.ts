import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { cacheDirectory, ensureBinaries } from "../../src/local/binary/binaries.ts";
import { findProgram } from "../../src/local/binary/path.ts";
import { createLogger } from "../../src/log.ts";
import { buildDebian } from "../image/base.ts";
import { cachedTar } from "../image/cached-tar.ts";
import type { Containers } from "../image/containers.ts";
import type { ComposeFile } from "./compose-file.ts";

/** An image that stands in for one of others. */
export interface StandIn {
  readonly tar: string;
  readonly image: string;
  /** The variables of the compose file that are to name it. */
  readonly variables: readonly string[];
}

/** Builds stand-ins for the images of others that the file names, of Debian's PostgreSQL and Temporal's Go modules. */
export async function buildStandIns(compose: ComposeFile): Promise<StandIn[]> {
  return [
    await standIn(["PERENNIAL_POSTGRES_IMAGE"], {
      ...{ name: "postgres", packages: ["postgresql"] },
      files: { "start.sh": join(import.meta.dirname, "postgres.sh") },
      more: [
        "COPY start.sh /usr/local/bin/start-postgres",
        "RUN mkdir -p /var/lib/postgresql/data /run/postgresql && chown postgres: /var/lib/postgresql/data /run/postgresql",
        "RUN ln -sf /usr/lib/postgresql/*/bin/* /usr/local/bin/",
        "USER postgres",
        'ENTRYPOINT ["/bin/sh", "/usr/local/bin/start-postgres"]',
      ],
    }),
    await standIn(["PERENNIAL_TEMPORAL_IMAGE", "PERENNIAL_TEMPORAL_TOOLS_IMAGE"], {
      ...{
        name: "temporal-server",
        packages: ["ca-certificates", "netcat-openbsd"],
        files: await temporalFiles(compose),
      },
      more: [
        "COPY temporal temporal-sql-tool temporal-server /usr/local/bin/",
        "COPY schema /etc/temporal/schema",
        "COPY entrypoint.sh /etc/temporal/entrypoint.sh",
        "RUN echo temporal:x:1000:1000::/etc/temporal:/bin/sh >> /etc/passwd",
        "WORKDIR /etc/temporal",
        "USER 1000:1000",
        'CMD ["/bin/bash", "/etc/temporal/entrypoint.sh"]',
      ],
    }),
  ];
}

async function standIn(
  variables: readonly string[],
  { name, packages, files, more }: Readonly<Record<"packages" | "more", readonly string[]>> & StandInFiles,
): Promise<StandIn> {
  const image = `perennial.dev/${name}:rehearsal`;
  const parts = JSON.stringify([packages, more, files]);
  const key = createHash("sha256").update(parts).digest("hex").slice(0, 12);
  const build = async (containers: Containers) =>
    await buildDebian(containers, { tag: image, packages, files, more: `${more.join("\n")}\n` });
  return { tar: await cachedTar({ image, name: `rehearsal-${name}`, key, build }), image, variables };
}

interface StandInFiles {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Server, schema tool, schema and entry point of the version that the file names, and our own `temporal`. */
async function temporalFiles({ services }: ComposeFile): Promise<Readonly<Record<string, string>>> {
  const version = services["temporal"]?.image.split(":")[1];
  if (version === undefined) throw new Error("cannot tell the version of Temporal's server");
  const go = await findProgram("go", ["/usr/local/go/bin"]);
  if (go === undefined) throw new Error("cannot build Temporal's server without Go");
  const folder = join(cacheDirectory(), "bin/temporal-server", version);
  await mkdir(folder, { recursive: true });
  const env = { GOBIN: folder, GOFLAGS: "", CGO_ENABLED: "0" };
  const install = async (program: string) =>
    await execa(go, ["install", "-trimpath", "-ldflags", "-s -w", `${module}/${program}@v${version}`], { env });
  await install("cmd/server");
  await install("cmd/tools/sql");
  const { stdout } = await execa(go, ["mod", "download", "-json", `${module}@v${version}`], { env });
  const { Dir: source } = JSON.parse(stdout) as { readonly Dir: string };
  const { temporal } = await ensureBinaries(["temporal"], {
    log: createLogger({ name: "rehearsal", level: "silent" }),
  });
  return {
    temporal,
    "temporal-server": join(folder, "server"),
    "temporal-sql-tool": join(folder, "sql"),
    schema: join(source, "schema"),
    "entrypoint.sh": join(source, "docker/scripts/sh/entrypoint.sh"),
  };
}

const module = "go.temporal.io/server";
