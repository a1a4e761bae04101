import { createGunzip } from "node:zlib";
import { Readable } from "node:stream";
import { parseYaml } from "../../parsing.ts";
import { eachEntry, readWhole } from "./entries.ts";
import { digestOf, type Descriptor, type PushClient } from "./push-client.ts";

/**
 * Pushes a packaged chart as the OCI artifact that Helm pulls: to `<folder>/<its name>`, with its version as tag.
 * Its digest is the same for the same bytes.
 */
export async function pushChart(
  client: PushClient,
  folder: string,
  chart: Buffer,
): Promise<{ readonly repository: string; readonly tag: string; readonly digest: string }> {
  const metadata = await readMetadata(chart);
  const { name, version } = metadata;
  if (typeof name !== "string" || typeof version !== "string")
    throw new Error("cannot push a chart whose Chart.yaml has no name or version");
  const repository = `${folder}/${name}`;
  const config = Buffer.from(JSON.stringify(metadata));
  const put = async (mediaType: string, bytes: Buffer): Promise<Descriptor> => {
    const blob = { digest: digestOf(bytes), size: bytes.length };
    await client.putBlob(repository, blob, () => bytes);
    return { mediaType, ...blob };
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: await put("application/vnd.cncf.helm.config.v1+json", config),
    layers: [await put("application/vnd.cncf.helm.chart.content.v1.tar+gzip", chart)],
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  // A tag has no plus: Helm puts an underscore in its place, too.
  const tag = version.replaceAll("+", "_");
  return { repository, tag, digest: await client.putManifest(repository, { mediaType: manifestType, bytes, tag }) };
}

const manifestType = "application/vnd.oci.image.manifest.v1+json";

/** The chart's own Chart.yaml, not one of a chart inside it. */
async function readMetadata(chart: Buffer): Promise<Record<string, unknown>> {
  const texts: string[] = [];
  await eachEntry(Readable.from([chart]).pipe(createGunzip()), async ({ path, content }) => {
    if (/^[^/]+\/Chart\.yaml$/.test(path)) texts.push((await readWhole(content)).toString());
  });
  const metadata: unknown = parseYaml(texts.join("\n"), "Chart.yaml");
  if (typeof metadata !== "object" || metadata === null) throw new Error("cannot push a chart without Chart.yaml");
  return metadata as Record<string, unknown>;
}
