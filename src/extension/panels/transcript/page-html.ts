/** The HTML around the transcript page: a bundle, a style sheet, and what the page is about. Nothing else can run in it. */

export interface PageParts {
  /** Of the webview: where scripts, styles and fonts may come from. */
  cspSource: string;
  /** New for every page. */
  nonce: string;
  script: string;
  style: string;
  language: string;
  title: string;
  /** What the page keeps to be restored. */
  subject: unknown;
  words: Readonly<Record<string, string>>;
}

/** Data inside a script element: nothing in it can end the element. */
const embedded = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export function pageHtml({ cspSource, nonce, script, style, language, title, subject, words }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${escaped(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="stylesheet" href="${escaped(style)}">
</head>
<body>
<main id="page"></main>
<script type="application/json" id="subject" nonce="${nonce}">${embedded(subject)}</script>
<script type="application/json" id="words" nonce="${nonce}">${embedded(words)}</script>
<script nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>
`;
}
