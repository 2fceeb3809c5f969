/** A module with everything it imports, bundled for the script engine as one expression that yields its default export. */
declare module '*?vm' {
  const text: string;
  export default text;
}

/** Node has it; the types of Node and of ES2024 know only its name. */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
