import { activationTimes } from '../host/activation-times.ts';
import { activeExtension, EXTENSION_ID } from '../host/pi-lanes.ts';

suite('activation', () => {
  test('is measured by the editor', async () => {
    await activeExtension();
    const { load, activate, finish } = await activationTimes(EXTENSION_ID);
    console.log(`BENCH activation load=${load} activate=${activate} finish=${finish}`);
  });
});
