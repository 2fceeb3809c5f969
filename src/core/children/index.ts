export * from './child-driver.ts';
export { PiDriver } from './pi/pi-driver.ts';
export { probeModels } from './pi/probe-models.ts';
