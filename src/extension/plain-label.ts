/** Lists draw `$(name)` as an icon: what a person or an agent has written stays as it was. */
export function plainLabel(text: string): string {
  return text.replaceAll('$(', '\\$(');
}
