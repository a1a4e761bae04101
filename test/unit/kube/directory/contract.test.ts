import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { createDirectoryClient, type DirectoryClient } from "../../../../src/kube/directory/directory-client.ts";
import { describeClientContract } from "../../../support/client-contract.ts";

let directory: string;
let client: DirectoryClient;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "directory-"));
  client = createDirectoryClient({ directory: join(directory, "seed") });
});

afterAll(() => rm(directory, { recursive: true, force: true }));

describe("a directory that stands for a cluster", () => describeClientContract(test, () => client));
