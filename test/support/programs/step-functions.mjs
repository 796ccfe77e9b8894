/** Functions for tests of function steps that are loaded from a file. */
export function double(ctx) {
  return { doubled: ctx.input.n * 2 };
}
export default () => "from default";
export const notAFunction = 1;
