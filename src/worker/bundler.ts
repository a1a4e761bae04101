import { bundleWorkflowCode, DefaultLogger } from "@temporalio/worker";

/** Prints workflow code as one script: `bundler.ts <file of the workflows> [<file of the failure converter>]`. */
await main(process.argv.slice(2));

async function main([workflowsPath = "", ...converters]: readonly string[]): Promise<void> {
  const [failureConverterPath] = converters;
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    ...(failureConverterPath === undefined ? {} : { failureConverterPath }),
    // Loaded once and frozen for all workflows of a worker, in place of once for each.
    preloadModules: [workflowsPath, ...converters],
    // Traces name files and lines; the files themselves are a megabyte in each of the worker's threads.
    webpackConfigHook: (config) => ({ ...config, devtool: "inline-nosources-source-map" }),
    logger: new DefaultLogger("ERROR"),
  });
  process.stdout.write(code);
}
