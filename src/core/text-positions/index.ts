export { TextPositions } from './text-positions.ts';
