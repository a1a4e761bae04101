import { join } from "node:path";
import { stringify } from "yaml";
import { writeImageTar } from "../../src/local/image/tar.ts";
import { searchAttributes } from "../../src/local/process/temporal.ts";
import type { Grounds } from "./grounds.ts";

const image = "perennial.dev/temporal:rehearsal";

/** The tar of an image of Temporal's development server. */
export async function temporalImage({ environment, binaries }: Grounds): Promise<string> {
  const tar = join(environment.stateDir, "temporal.tar");
  const program = { path: "/usr/local/bin/temporal", source: binaries.temporal, mode: 0o755 };
  await writeImageTar({ name: image, files: [program], entrypoint: [program.path] }, tar);
  return tar;
}

/** A frontend where deploy/garden/gateway.yaml looks for it: one pod, which forgets everything with its end. */
export function frontend(): string {
  const labels = { app: "temporal" };
  const metadata = { name: "temporal-frontend", namespace: "temporal" };
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "temporal" } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: "temporal",
                image,
                args: serverArguments,
                env: [
                  { name: "USER", value: "temporal" },
                  { name: "HOME", value: "/" },
                ],
                readinessProbe: { tcpSocket: { port: 7233 } },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: labels, ports: [{ name: "grpc", port: 7233 }] },
    },
  ];
  return objects.map((object) => stringify(object)).join("---\n");
}

const serverArguments = [
  ...["server", "start-dev", "--ip", "0.0.0.0", "--headless", "--log-level", "warn"],
  ...searchAttributes.flatMap((name) => ["--search-attribute", `${name}=Keyword`]),
];
