import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "test-results/"] },
  ...tseslint.configs.recommended,
  {
    rules: {
      "max-lines": ["error", 400],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      eqeqeq: "error",
      // Names of a model enter the page as text nodes only.
      "no-restricted-syntax": [
        "error",
        {
          selector: "MemberExpression[property.name=/^(innerHTML|outerHTML|insertAdjacentHTML)$/]",
          message: "Write text nodes, not markup.",
        },
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Write text nodes, not markup.",
        },
      ],
    },
  },
);
