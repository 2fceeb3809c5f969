/**
 * A module with everything it imports, bundled for the script engine as one expression that yields its default export; and the same as
 * bytecode (base64) of the engine that is shipped.
 */
declare module '*?vm' {
  const script: { readonly text: string; readonly bytecode: string };
  export default script;
}

/** Node has it; the types of Node and of ES2024 know only its name. */
declare namespace WebAssembly {
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
