/** What goes between the validator and its worker. */
import * as z from 'zod/mini';
import { analysisOptions, scriptAnalysis } from '../../protocol/index.ts';

export const validateRequest = z.object({ id: z.number(), script: z.string(), options: analysisOptions });
export const validateResponse = z.object({ id: z.number(), analysis: scriptAnalysis });
