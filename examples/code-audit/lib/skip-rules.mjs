/**
 * Owns the choice of folders that an audit passes over, and the reason given for each.
 *
 * Two groups are passed over in a project: what others wrote (dependencies) and what tools made (products). A group is
 * looked at after all when the audited folder itself lies inside such a folder: whoever audits `node_modules` wants to
 * see it, nested `dist` folders included. Version control data is never looked at. Skipped folders are never silent:
 * the walk lists them with the number of files in them.
 */
const VERSION_CONTROL = new Set([".git", ".hg", ".svn", ".bzr", "CVS"]);

const DEPENDENCIES = new Set([
  "node_modules",
  "bower_components",
  "jspm_packages",
  "vendor",
  "site-packages",
  "dist-packages",
  ".venv",
  "venv",
  "virtualenv",
  "Pods",
  "Carthage",
  ".yarn",
  ".pnpm-store",
  "__pypackages__",
  ".bundle",
  ".cargo",
]);

const PRODUCTS = new Set([
  "dist",
  "build",
  "out",
  "outputs",
  "target",
  "coverage",
  "htmlcov",
  ".nyc_output",
  ".next",
  ".nuxt",
  ".output",
  ".splashdown",
  ".svelte-kit",
  ".turbo",
  ".parcel-cache",
  ".cache",
  ".gradle",
  ".tox",
  ".nox",
  ".mypy_cache",
  ".pytest_cache",
  ".ruff_cache",
  "__pycache__",
  ".eggs",
  ".terraform",
  ".dart_tool",
  "DerivedData",
  "_build",
]);

/**
 * Chooses what to pass over below one audited folder.
 *
 * Shape: the answer maps a folder name to the reason for skipping it, or to `undefined` for a folder to look at.
 * @param {string} realRoot absolute path of the audited folder, links resolved, one character per byte
 * @param {boolean} includeSkipped true looks at everything but version control
 */
export function selectSkipRules(realRoot, includeSkipped = false) {
  const segments = realRoot.split("/");
  const isInDependencies = segments.some((name) => DEPENDENCIES.has(name));
  const isInProducts = isInDependencies || segments.some((name) => PRODUCTS.has(name));
  return (name) => {
    if (VERSION_CONTROL.has(name)) return "version control data";
    if (includeSkipped) return undefined;
    if (!isInDependencies && DEPENDENCIES.has(name)) return "dependencies, written elsewhere";
    if (!isInProducts && PRODUCTS.has(name)) return "products of a build or a tool";
    return undefined;
  };
}
