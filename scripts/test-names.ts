import type { Rule } from "eslint";

type Call = Parameters<NonNullable<Rule.NodeListener["CallExpression"]>>[0];

/** The name of a test, with the names of its describes before it, is a sentence that stands alone. */
export const testNames: Rule.RuleModule = {
  meta: {
    type: "suggestion",
    messages: {
      short: "'{{ name }}' is no sentence: name the subject and what it does.",
      subject: "'{{ name }}' begins with a verb: name the subject before it.",
      hidden: "'{{ name }}' hides who acts: name the worker, operator, flow, controller or client.",
      punctuation: "'{{ name }}' begins or ends with a space or a punctuation mark.",
    },
  },
  create: (context) => ({
    CallExpression: (node) => {
      const title = titleOf(node, ["it", "test"]);
      if (title === undefined) return;
      const around = context.sourceCode.getAncestors(node).flatMap((ancestor) => {
        if (ancestor.type !== "CallExpression") return [];
        return titleOf(ancestor, ["describe"]) ?? [];
      });
      const name = [...around, title].join(" ");
      const messageId = faultOf(name, title);
      if (messageId) context.report({ node, messageId, data: { name } });
    },
  }),
};

/** What a call such as `test("…")` or `test.each(…)("…")` is named; undefined when it is another call. */
function titleOf(
  { callee, arguments: [first] }: Pick<Call, "callee" | "arguments">,
  functions: readonly string[],
): string | undefined {
  if (!functions.includes(rootOf(callee))) return undefined;
  if (first?.type === "Literal" && typeof first.value === "string") return first.value;
  if (first?.type === "TemplateLiteral") return first.quasis.map(({ value }) => value.raw).join("…");
  return undefined;
}

function rootOf(callee: Call["callee"]): string {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "MemberExpression") return rootOf(callee.object);
  if (callee.type === "CallExpression") return rootOf(callee.callee);
  return "";
}

function faultOf(name: string, title: string): "short" | "subject" | "hidden" | "punctuation" | undefined {
  if (/^[\s.,:;!?]|[\s.,:;!?]$/.test(title)) return "punctuation";
  if (hiding.test(name)) return "hidden";
  if (verbs.test(name)) return "subject";
  return name.split(/\s+/).length < 3 ? "short" : undefined;
}

const hiding = /\b(no|some|any|every)(body|one)\b|\bwhoever\b/i;

/** The verbs that names of tests begin with when their subject was left out. */
const verbs =
  /^(adds|allows|answers|applies|are|asks|begins|breaks|can|cannot|creates|deletes|does|ends|expects|fails|finds|follows|gives|goes|handles|has|imports|is|keeps|knows|lets|leaves|makes|moves|names|plans|prints|reads|redraws|refuses|returns|saves|says|seals|sends|sets|should|shows|starts|stops|takes|throws|tries|waits|works|writes)\b/i;
