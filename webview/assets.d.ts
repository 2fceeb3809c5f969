/** Files that the bundler gives as their text. */
declare module '*.svg' {
  const text: string;
  export default text;
}

/** Style sheets, which the bundler puts beside the script. */
declare module '*.css';
