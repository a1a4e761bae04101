/**
 * The house style that no published lint rule checks: docstrings, file names, explained exceptions, typed reads, names of
 * tests.
 * ESLint loads this file through eslint.config.js.
 */
import { basename } from "node:path";
import type { AST, Rule } from "eslint";
import { testNames } from "./test-names.ts";

type Node = AST.Program["body"][number];
type CallExpression = Parameters<NonNullable<Rule.RuleListener["CallExpression"]>>[0];

/** The rules as an ESLint plugin, named `house/...` in eslint.config.js. */
export const house = {
  rules: {
    "documented-exports": {
      meta: { type: "suggestion", messages: { missing: "Export without a docstring: say what it guarantees." } },
      create: (context) => ({
        Program: (program) => {
          for (const [index, node] of program.body.entries()) {
            if (needsDocstring(node, program.body[index - 1], context)) context.report({ node, messageId: "missing" });
          }
        },
      }),
    },
    "explained-exceptions": {
      meta: {
        type: "problem",
        messages: {
          unexplained:
            "A lint exception names its rule and its reason: `eslint-disable-next-line <rule> -- <why>`, or `oxlint-…`.",
        },
      },
      create: (context) => ({
        Program: () => {
          for (const comment of context.sourceCode.getAllComments()) {
            if (!isUnexplained(comment.value) || !comment.loc) continue;
            // Before the comment, which might disable this rule as well.
            context.report({ loc: { line: comment.loc.start.line - 1, column: 0 }, messageId: "unexplained" });
          }
        },
      }),
    },
    "typed-reads": {
      meta: {
        type: "problem",
        messages: {
          argument: "A type argument can disagree with the kind beside it: the kind's definition carries the type.",
          literal:
            "Name the kind by its definition, such as `read(Secret, { namespace, name })` or `refTo(Secret, …)`.",
        },
      },
      create: (context) => ({
        CallExpression: (node) => {
          const place = kindsPlace(node);
          if (place === undefined) return;
          if ("typeArguments" in node && node.typeArguments) context.report({ node, messageId: "argument" });
          const named = node.arguments[place];
          if (named && namesKind(named)) context.report({ node: named, messageId: "literal" });
        },
      }),
    },
    "bounded-clients": {
      meta: {
        type: "problem",
        messages: {
          unbounded: "Users write what this cluster answers: give the client `bounds`, such as `untrusted`.",
        },
      },
      create: (context) => ({
        CallExpression: (node) => {
          const [, options] = node.arguments;
          if (node.callee.type !== "Identifier" || node.callee.name !== "createKubeClient") return;
          if (!options || !hasProperty(options, "bounds")) context.report({ node, messageId: "unbounded" });
        },
      }),
    },
    "spelled-once": {
      meta: {
        type: "suggestion",
        messages: { spelled: "'{{ text }}' is spelled out: take it from src/api/{{ home }}." },
      },
      create: (context) => {
        const check = (node: Rule.Node, text: unknown) => {
          if (typeof text !== "string") return;
          for (const [home, pattern] of Object.entries(spelledOnce)) {
            const [found] = pattern.exec(text) ?? [];
            if (found && !isExample(node)) context.report({ node, messageId: "spelled", data: { text: found, home } });
          }
        };
        return {
          Literal: (node) => check(node, node.value),
          TemplateElement: (node) => check(node, node.value.cooked),
        };
      },
    },
    "file-names": {
      meta: {
        type: "suggestion",
        messages: {
          drawer: "'{{ name }}' is a drawer, not a word of the domain.",
          shape: "'{{ name }}' is not kebab-case.",
        },
      },
      create: (context) => ({
        Program: (node) => {
          const name = basename(context.filename).replace(/(\.test|\.bench|\.d)?\.[cm]?[jt]s$/, "");
          const messageId = fileNameFault(name);
          if (messageId) context.report({ node, messageId, data: { name } });
        },
      }),
    },
    "test-names": testNames,
  } satisfies Record<string, Rule.RuleModule>,
};

/** What is spelled in one file of src/api only. Keys are neither API versions (`…/v1alpha1`) nor images (`…/hello:1`). */
const spelledOnce: Readonly<Record<string, RegExp>> = {
  "{annotations,labels,names}.ts": /\b([a-z0-9-]+\.)*(gardener\.cloud|perennial\.dev)\/(?!v\d)(?![\w.-]+:)[\w.-]*/,
  "command-lines.ts": /\bperennial (local|shoot|flow) [a-z]+/,
  "activity-ids.ts": /^\/(apply|wait|verify|explain)\b/,
};

/** A verb's examples are what it shows, in full. */
function isExample(node: Rule.Node): boolean {
  for (let at: Rule.Node | null = node; at; at = at.parent) {
    if (at.type === "Property" && at.key.type === "Identifier" && at.key.name === "examples") return true;
  }
  return false;
}

function needsDocstring(node: Node, before: Node | undefined, context: Rule.RuleContext): boolean {
  if (node.type !== "ExportNamedDeclaration" && node.type !== "ExportDefaultDeclaration") return false;
  if (!node.declaration) return false; // a re-export is documented where it is declared
  const text = context.sourceCode.getText(node);
  if (/^export type \w+ = z\.(infer|input|output)</.test(text)) return false; // the schema above it carries the text
  if (isOverload(text, before, context)) return false;
  const blocks = context.sourceCode.getCommentsBefore(node).filter(({ type }) => type === "Block");
  return !blocks.at(-1)?.value.startsWith("*");
}

/** Later overloads and the implementation share the docstring of the first. */
function isOverload(text: string, before: Node | undefined, context: Rule.RuleContext): boolean {
  const name = functionName(text);
  return name !== undefined && before !== undefined && functionName(context.sourceCode.getText(before)) === name;
}

function functionName(text: string): string | undefined {
  return /^export (?:async )?function\*? (\w+)/.exec(text)?.[1];
}

function isUnexplained(comment: string): boolean {
  const directive = /^\s*(?:eslint|oxlint)-disable(-next-line|-line)?\b(?<rest>[\s\S]*)$/.exec(comment);
  if (directive) return !/^\s+[\w@/-]+(\s*,\s*[\w@/-]+)*\s+--\s+\S/.test(directive.groups?.["rest"] ?? "");
  return /^\s*@ts-(ignore|nocheck)/.test(comment) || /^\s*@ts-expect-error\s*$/.test(comment);
}

/** Which argument of a call to a cluster names the kind; undefined for other calls. */
function kindsPlace({ callee }: CallExpression): number | undefined {
  if (callee.type === "Identifier") return callee.name === "createReflector" ? 1 : undefined;
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return undefined;
  return /^(read|list|snapshot|watch|patch|remove|removeAll)$/.test(callee.property.name) ? 0 : undefined;
}

/** Whether it is an object literal with a kind in quotes; a kind that is only known at run time is in none. */
function namesKind(argument: CallExpression["arguments"][number]): boolean {
  if (argument.type !== "ObjectExpression") return false;
  return argument.properties.some(
    (property) =>
      property.type === "Property" &&
      property.key.type === "Identifier" &&
      property.key.name === "kind" &&
      property.value.type === "Literal",
  );
}

const hasProperty = (argument: CallExpression["arguments"][number], name: string): boolean =>
  argument.type === "ObjectExpression" &&
  argument.properties.some(
    (property) => property.type === "Property" && property.key.type === "Identifier" && property.key.name === name,
  );

function fileNameFault(name: string): "drawer" | "shape" | undefined {
  if (/^(utils?|helpers?|common|misc|types|shared)$/.test(name)) return "drawer";
  return /^[a-z0-9]+(-[a-z0-9]+)*(\.config)?$/.test(name) ? undefined : "shape";
}
