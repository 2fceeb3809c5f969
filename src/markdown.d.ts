/** Markdown files are bundled as text. */
declare module '*.md' {
  const text: string;
  export default text;
}

/** Version of this package, set by the build. */
declare const PI_LANES_VERSION: string;
