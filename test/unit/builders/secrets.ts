/** Token-shaped texts. Put together here, so that no file of this project holds one. */

const letters = (count: number) => 'aB3dE6gH9jK2mN5pQ8sT'.repeat(200).slice(0, count);

export function pemKey(kind = ''): { key: string; body: string } {
  const dashes = '-'.repeat(5);
  const body = letters(300).replace(/.{60}/g, '$&\n').trim();
  return { key: `${dashes}BEGIN ${kind}PRIVATE KEY${dashes}\n${body}\n${dashes}END ${kind}PRIVATE KEY${dashes}`, body };
}

/** A text as it is met, and the part of it that must go. */
function token(secret: string, around = (text: string) => text): { text: string; secret: string } {
  return { text: around(secret), secret };
}

const jwt = (length: number) => ['eyJ', letters(20), '.eyJ', letters(length), '.', letters(40)].join('');

export const secrets: Readonly<Record<string, { text: string; secret: string }>> = {
  'an OpenAI key': token(`sk-${letters(48)}`),
  'an OpenAI project key': token(`sk-proj-${letters(30)}_-x`),
  'an Anthropic key': token(`sk-ant-api03-${letters(40)}`, (text) => `ANTHROPIC_API_KEY=${text}`),
  'a GitHub token': token(`ghp_${letters(36)}`, (text) => `token:${text}`),
  'a GitHub server token': token(`ghs_${letters(36)}`),
  'a fine-grained GitHub token': token(`github_pat_${letters(40)}`),
  'a GitLab token': token(`glpat-${letters(20)}`),
  'a Slack token': token(`xoxb-${letters(24)}`),
  'an AWS key id': token(`AKIA${letters(16).toUpperCase()}`),
  'a Google key': token(`AIza${letters(35)}`),
  'an npm token': token(`npm_${letters(36)}`),
  'a Hugging Face token': token(`hf_${letters(34)}`),
  'a JWT': token(jwt(60)),
  'a long JWT': token(jwt(2000)),
  'a bearer token': token(letters(32), (text) => `Authorization: Bearer ${text}`),
  'a bearer token in lower case': token(letters(40), (text) => `authorization: bearer  ${text}`),
  'a password in a URL': token(letters(12), (text) => `postgres://me:${text}@host:5432/db`),
  'a private key': token(pemKey().key),
  'an RSA private key': token(pemKey('RSA ').key),
};
