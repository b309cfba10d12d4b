/** The build bundles pages of the manual as their text. */
declare module '*.md' {
  const text: string;
  export default text;
}
