import { readFile } from "node:fs/promises";
import { channelCredentials, checkFiles } from "../client/credentials.ts";
import { temporalOf } from "../client/connect.ts";
import { createCodec } from "../client/payloads/codec.ts";
import { parseConfig, type Config } from "../config.ts";
import { serveHealth } from "../health.ts";
import { readKeyFile } from "../key-file.ts";
import { createLogger, type Logger } from "../log.ts";
import { createCodecServer } from "./codec-server.ts";
import { createGateway } from "./gateway.ts";
import { defaultLimits, type AllLimits } from "./limits.ts";
import type { ServerFiles } from "./server-credentials.ts";
import { createTaskTokens } from "./task-tokens.ts";
import { createUpstream } from "./upstream.ts";

/** Lets seeds' workers reach their own queues of Temporal, and the garden's processes all of it. */
await main();

async function main(): Promise<void> {
  const config = parseConfig(process.env, "Temporal gateway");
  const log = createLogger({ name: "gateway", level: config.logLevel });
  const { address, namespace, ...files } = temporalOf(config);
  await checkFiles(files);
  const serving = {
    certFile: config.gatewayCertFile,
    keyFile: config.gatewayKeyFile,
    clientCaFile: config.gatewayClientCaFile,
  };
  const gateway = await createGateway({
    upstream: createUpstream({ address, ...channelCredentials(files) }),
    namespace,
    files: serving,
    tokens: createTaskTokens(await readKeyFile(config.gatewayKeysFile)),
    limits: limitsOf(config),
    log,
  });
  const port = await gateway.start({ host: config.gatewayHost, port: config.gatewayPort });
  const codec = await serveCodec(config, serving, log);
  let ready = true;
  const health = await serveHealth({ port: config.healthPort, ready: () => ready });
  log.info({ host: config.gatewayHost, port, temporal: address }, "gateway started");

  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve()).once("SIGINT", () => resolve());
  });
  ready = false;
  await Promise.all([gateway.stop(), codec?.stop()]);
  await health.stop();
  log.info("gateway stopped");
}

function limitsOf({ seedPolls, allSeedsPolls, seedRate, allSeedsRate }: Config<"Temporal gateway">): AllLimits {
  const polls = { own: seedPolls, total: allSeedsPolls };
  const rate = { own: seedRate, total: allSeedsRate };
  return { ...defaultLimits, seed: { ...defaultLimits.seed, polls, rate } };
}

async function serveCodec(config: Config<"Temporal gateway">, files: ServerFiles, log: Logger) {
  const { codecPort: port, codecOrigin: origin, codecTokenFile, payloadKeysFile, gatewayHost: host } = config;
  if (port === 0) return undefined;
  if (payloadKeysFile === undefined) throw new Error("PERENNIAL_CODEC_PORT needs PERENNIAL_PAYLOAD_KEYS_FILE");
  const token = codecTokenFile === undefined ? undefined : (await readFile(codecTokenFile, "utf8")).trim();
  const codec = createCodec(await readKeyFile(payloadKeysFile));
  const server = await createCodecServer({ codec, files, origin, token, log });
  await server.start({ host, port });
  return server;
}
