import { fit, unfit } from "../verdict.ts";
import type { Rule } from "./rule.ts";

/** The node has every tag that the check requires. */
export const tags: Rule = {
  judge({ report, check }) {
    for (const [key, value] of check.tags) if (report.tags.get(key)?.text !== value) return unfit("tag", key);
    return fit;
  },
  show: ({ report, check }) =>
    check.tags.map(([key, wanted]) => {
      const found = report.tags.get(key)?.text;
      return {
        rule: `tag ${key}`,
        value: found ?? "not set",
        limit: wanted,
        refusal: found === wanted ? null : "tag",
      };
    }),
};
