/** The rules on the inventory of `runs.lanes`, all of which are checked before anything is launched. */
import { canonicalJson } from './canonical-json.ts';
import { type Phrase, say } from './words.ts';
import {
  isKnown,
  isObject,
  keyFault,
  MAX_LANE_PATH_BYTES,
  MAX_LANE_TASK_BYTES,
  MAX_LANES,
  MAX_LANES_BYTES,
  MAX_STAGES,
  MAX_STAGES_PER_LANE,
  type RuleFault,
  short,
  UNKNOWN,
  WORKFLOW_KEY,
} from './workflow.ts';
import { launchFaults } from './workflow-launch.ts';

const utf8 = new TextEncoder();

/** The key of a stage's child. */
export function stageKey(lane: string, stage: string): string {
  return `${lane}.${stage}`;
}

/**
 * What is wrong with an inventory, lane by lane. `UNKNOWN` may stand anywhere; `isOpen` tells of an object (by its
 * path) whether it may have fields nobody can know yet.
 */
export function lanesFaults(lanes: unknown, isOpen: (path: RuleFault['path']) => boolean = () => false): RuleFault[] {
  if (lanes === UNKNOWN) return [];
  const faults: RuleFault[] = [];
  if (!Array.isArray(lanes)) return [bounds([], say('lanes_bounds:array', { value: short(lanes) }))];
  if (lanes.length === 0) return [bounds([], say('lanes_bounds:none'))];
  if (lanes.length > MAX_LANES) {
    faults.push(bounds([], say('lanes_bounds:lanes', { count: lanes.length, max: MAX_LANES })));
  }
  const generated = new Map<string, RuleFault['path']>();
  let stages = 0;
  lanes.forEach((lane: unknown, index) => {
    if (lane === UNKNOWN) return;
    faults.push(...laneFaults(lane, index, isOpen, generated));
    if (isObject(lane) && Array.isArray(lane['stages'])) stages += lane['stages'].length;
  });
  if (stages > MAX_STAGES) {
    faults.push(bounds([], say('lanes_bounds:all-stages', { count: stages, max: MAX_STAGES })));
  }
  if (isKnown(lanes)) {
    const size = utf8.encode(canonicalJson(lanes)).length;
    if (size > MAX_LANES_BYTES) {
      faults.push(bounds([], say('lanes_bounds:bytes', { size, max: MAX_LANES_BYTES })));
    }
  }
  return faults;
}

function bounds(path: RuleFault['path'], message: Phrase): RuleFault {
  return { rule: 'lanes_bounds', path, message };
}

function laneFaults(
  lane: unknown,
  index: number,
  isOpen: (path: RuleFault['path']) => boolean,
  generated: Map<string, RuleFault['path']>,
): RuleFault[] {
  const number = index + 1;
  if (!isObject(lane)) {
    const message = say('lanes_field_invalid:lane', { lane: number, value: short(lane) });
    return [{ rule: 'lanes_field_invalid', path: [index], message }];
  }
  const faults: RuleFault[] = [];
  for (const name of Object.keys(lane)) {
    if (name !== 'key' && name !== 'stages') {
      const message = say('lanes_field_invalid:name', { lane: number, name });
      faults.push({ rule: 'lanes_field_invalid', path: [index, name], message });
    }
  }
  const open = isOpen([index]);
  const { key, stages } = lane;
  if (key !== undefined || !open) {
    const what = say('key_of', { what: say('lane', { lane: number }) });
    faults.push(...keyFault(key, what, key === undefined ? [index] : [index, 'key']));
  }
  if (stages === UNKNOWN || (stages === undefined && open)) return faults;
  if (!Array.isArray(stages) || stages.length === 0) {
    const path = stages === undefined ? [index] : [index, 'stages'];
    return [
      ...faults,
      { rule: 'lanes_field_invalid', path, message: say('lanes_field_invalid:stages', { lane: number }) },
    ];
  }
  if (stages.length > MAX_STAGES_PER_LANE) {
    const message = say('lanes_bounds:stages', { lane: number, count: stages.length, max: MAX_STAGES_PER_LANE });
    faults.push(bounds([index, 'stages'], message));
  }
  const own = new Set<string>();
  stages.forEach((stage: unknown, at) => {
    if (stage === UNKNOWN) return;
    const path = [index, 'stages', at];
    if (!isObject(stage)) {
      const message = say('lanes_stage_invalid:stage', { stage: at + 1, lane: number, value: short(stage) });
      faults.push({ rule: 'lanes_stage_invalid', path, message });
      return;
    }
    const what = say('stage:number', { stage: at + 1, lane: number });
    faults.push(...stageFaults(stage, path, { what, first: at === 0, open: isOpen(path) }));
    faults.push(...stageKeyFaults(key, stage['key'], path, own, generated));
  });
  return faults;
}

function stageFaults(
  stage: Record<string, unknown>,
  path: RuleFault['path'],
  { what, first, open }: { what: Phrase; first: boolean; open: boolean },
): RuleFault[] {
  const { key, ...params } = stage;
  const faults =
    key === undefined && open ? [] : keyFault(key, say('key_of', { what }), key === undefined ? [] : ['key']);
  faults.push(...launchFaults(params, { what, open, stage: first ? 'first' : 'later' }));
  const limits = {
    task: MAX_LANE_TASK_BYTES,
    cwd: MAX_LANE_PATH_BYTES,
    output: MAX_LANE_PATH_BYTES,
    sessionDir: MAX_LANE_PATH_BYTES,
  };
  for (const [name, max] of Object.entries(limits)) {
    const value = params[name];
    if (typeof value === 'string' && utf8.encode(value).length > max) {
      const message = say('lanes_stage_invalid:bytes', { name, what, max });
      faults.push({ rule: 'lanes_stage_invalid', path: [name], message });
    }
  }
  return faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] }));
}

function stageKeyFaults(
  lane: unknown,
  stage: unknown,
  path: RuleFault['path'],
  own: Set<string>,
  generated: Map<string, RuleFault['path']>,
): RuleFault[] {
  if (typeof stage !== 'string' || !WORKFLOW_KEY.test(stage)) return [];
  const at = [...path, 'key'];
  if (own.has(stage)) {
    return [{ rule: 'lanes_key_repeated', path: at, message: say('lanes_key_repeated:lane', { key: short(stage) }) }];
  }
  own.add(stage);
  if (typeof lane !== 'string' || !WORKFLOW_KEY.test(lane)) return [];
  const child = stageKey(lane, stage);
  if (generated.has(child)) {
    return [{ rule: 'lanes_key_repeated', path: at, message: say('lanes_key_repeated:made', { key: short(child) }) }];
  }
  generated.set(child, at);
  return keyFault(child, say('key_of:made'), at);
}
