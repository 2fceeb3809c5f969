// Imported before anything that makes schemas: zod compiles validators with `new Function`, which the page's content
// security policy forbids, and even its attempt would be reported as a violation.
import * as z from 'zod/mini';

z.config({ jitless: true });
