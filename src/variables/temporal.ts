import * as z from "zod";
import { declare, path, port, workers } from "./variable.ts";

const temporalReaders = ["manager", ...workers, "Temporal gateway", "CLI"] as const;

/** How a process reaches Temporal, and shows it who it is. */
export const temporalVariables = declare({
  PERENNIAL_TEMPORAL_ADDRESS: {
    setting: "temporalAddress",
    meaning:
      "Host and port of Temporal: of the gateway, and for the gateway those of Temporal's frontend. The CLI asks the local environment before it takes the default.",
    schema: z.string().min(1).default("127.0.0.1:7233"),
    readBy: temporalReaders,
  },
  PERENNIAL_TEMPORAL_NAMESPACE: {
    setting: "temporalNamespace",
    meaning: "The namespace of Temporal that all workflows are in.",
    schema: z.string().min(1).default("default"),
    readBy: temporalReaders,
  },
  PERENNIAL_TEMPORAL_CA_FILE: {
    setting: "temporalCaFile",
    meaning:
      "The file of the authorities that Temporal's certificate is checked with, in PEM. Without it there is no TLS.",
    schema: path,
    readBy: temporalReaders,
  },
  PERENNIAL_TEMPORAL_CERT_FILE: {
    setting: "temporalCertFile",
    meaning:
      "The file of the certificate that shows Temporal who the process is. A renewed one is read within 30 seconds.",
    schema: path,
    readBy: temporalReaders,
  },
  PERENNIAL_TEMPORAL_KEY_FILE: {
    setting: "temporalKeyFile",
    meaning: "The file of that certificate's key.",
    schema: path,
    readBy: temporalReaders,
  },
  PERENNIAL_TEMPORAL_SERVER_NAME: {
    setting: "temporalServerName",
    meaning: "The name in Temporal's certificate, where it is not the host of its address.",
    schema: z.string().min(1).optional(),
    readBy: temporalReaders,
  },
  PERENNIAL_TEMPORAL_API_KEY_FILE: {
    setting: "temporalApiKeyFile",
    meaning:
      "The file of an API key that is sent to Temporal over TLS, for servers that ask for one. The gateway knows its callers by certificates alone.",
    schema: path,
    readBy: temporalReaders,
  },
  PERENNIAL_PAYLOAD_KEYS_FILE: {
    setting: "payloadKeysFile",
    meaning:
      "The file of the keys that encrypt what workflows and activities say to each other, and errors; all processes need the same. Without it, Temporal keeps them in the clear.",
    schema: path,
    readBy: temporalReaders,
    passedOn: true,
  },
});

/** A limit. */
const count = z.coerce.number().int().positive();

/** What the gateway listens at, how it knows its callers, and what they may use. */
export const gatewayVariables = declare({
  PERENNIAL_GATEWAY_HOST: {
    setting: "gatewayHost",
    meaning: "The address that the Temporal gateway listens at.",
    schema: z.string().min(1).default("0.0.0.0"),
    readBy: ["Temporal gateway"],
  },
  PERENNIAL_GATEWAY_PORT: {
    setting: "gatewayPort",
    meaning: "The port that the Temporal gateway listens at.",
    schema: port.default(7250),
    readBy: ["Temporal gateway"],
  },
  PERENNIAL_GATEWAY_CERT_FILE: {
    setting: "gatewayCertFile",
    meaning: "The file of the certificate that the gateway shows its callers. A renewed one is read within 30 seconds.",
    schema: path,
    readBy: ["Temporal gateway"],
    requiredBy: ["Temporal gateway"],
  },
  PERENNIAL_GATEWAY_KEY_FILE: {
    setting: "gatewayKeyFile",
    meaning: "The file of that certificate's key.",
    schema: path,
    readBy: ["Temporal gateway"],
    requiredBy: ["Temporal gateway"],
  },
  PERENNIAL_GATEWAY_CLIENT_CA_FILE: {
    setting: "gatewayClientCaFile",
    meaning:
      "The file of the authorities whose certificates the gateway accepts of its callers. They sign for nothing else.",
    schema: path,
    readBy: ["Temporal gateway"],
    requiredBy: ["Temporal gateway"],
  },
  PERENNIAL_GATEWAY_KEYS_FILE: {
    setting: "gatewayKeysFile",
    meaning:
      "The file of the keys with which the gateway marks tasks that it hands out; all its replicas need the same.",
    schema: path,
    readBy: ["Temporal gateway"],
    requiredBy: ["Temporal gateway"],
  },
  PERENNIAL_GATEWAY_SEED_POLLS: {
    setting: "seedPolls",
    meaning: "The most polls that the workers of one seed may have waiting at one gateway. Each worker opens up to 20.",
    schema: count.default(60),
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
  PERENNIAL_GATEWAY_ALL_SEEDS_POLLS: {
    setting: "allSeedsPolls",
    meaning:
      "The most polls that the workers of all seeds together may have waiting at one gateway. Temporal's frontend takes 1200 of a namespace, the garden's included, unless its `frontend.namespaceCount` is higher.",
    schema: count.default(400),
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
  PERENNIAL_GATEWAY_SEED_RATE: {
    setting: "seedRate",
    meaning: "The most calls that one gateway passes on for one seed.",
    unit: "calls per second",
    schema: count.default(300),
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
  PERENNIAL_GATEWAY_ALL_SEEDS_RATE: {
    setting: "allSeedsRate",
    meaning:
      "The most calls that one gateway passes on for all seeds together. Temporal's frontend takes 2400 of a namespace, the garden's included, unless its `frontend.namespaceRPS` is higher.",
    unit: "calls per second",
    schema: count.default(600),
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
  PERENNIAL_CODEC_PORT: {
    setting: "codecPort",
    meaning:
      "The port at which the gateway decrypts payloads for Temporal's UI and CLI, to holders of a garden's certificate; with 0 it does not.",
    schema: port.default(0),
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
  PERENNIAL_CODEC_ORIGIN: {
    setting: "codecOrigin",
    meaning:
      "The origin of Temporal's UI, such as `https://temporal.example`: browsers let pages of no other call the codec.",
    schema: z.url().optional(),
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
  PERENNIAL_CODEC_TOKEN_FILE: {
    setting: "codecTokenFile",
    meaning:
      "The file of a bearer token that opens the codec as well, for Temporal's CLI, which shows it no certificate.",
    schema: path,
    readBy: ["Temporal gateway"],
    passedOn: true,
  },
});
